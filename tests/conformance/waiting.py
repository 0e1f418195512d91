"""Print the entries of `WAITING` for the library as it stands: `python -m tests.conformance.waiting`."""

from __future__ import annotations

import sys

from tests.conformance import run
from tests.conformance.cases import load

# These and all that need facades are issue 7; the others are the annotation language, issue 3.
SURFACE = ("strict-schema/", "tool-declarations/")


def main() -> None:
    for case in load():
        try:
            run.run(case)
        except Exception as error:
            if case["id"].startswith("facades/") or "facets" in case.get("config", {}):
                reason = "issue 7: facades"
            else:
                reason = "issue 7" if case["id"].startswith(SURFACE) else "issue 3"
            print(f'    "{case["id"]}": "{reason}",')
            print(f"{case['id']}: {type(error).__name__}: {error}"[:400], file=sys.stderr)


if __name__ == "__main__":
    main()
