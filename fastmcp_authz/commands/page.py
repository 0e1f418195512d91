"""`fastmcp-authz page`: who sees what, as one page of HTML that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter
from rich.markup import escape

from fastmcp_authz.commands.loading import AsJson, CannotRunError, Domain, ServerSpec, load_server
from fastmcp_authz.commands.noting import looked_through, note_strangers, note_unmade
from fastmcp_authz.commands.terminal import FINE, console, print_json
from fastmcp_authz.survey.matrix import Matrix, matrix_of
from fastmcp_authz.survey.survey import Survey


async def page(
    server: ServerSpec,
    /,
    *,
    output: Annotated[Path | None, Parameter(help="The file to write the page to")] = None,
    domain: Domain = None,
    as_json: AsJson = False,
) -> int:
    """Write one self-contained page that shows what each persona sees. It shows everything: not for publication."""
    if output is None and not as_json:
        raise CannotRunError("Say where the page goes: --output page.html. Or print its data: --json.")
    surveyed = await looked_through(await load_server(server), domain=domain)
    matrix = await matrix_of(surveyed)
    note_unmade(matrix.unmade, matrix.personas)
    if domain is not None:
        _refuse_unknown_domain(surveyed, matrix, domain)
    note_strangers(surveyed, surveyed.tools, surveyed.personas)
    if output is not None:
        _write(output, rendered(matrix))
    if as_json:
        print_json(matrix.as_json())
        return FINE
    found = f"{len(matrix.tools)} tools, {len(matrix.personas)} personas"
    console().print(f"Wrote {escape(str(output))}: {found}. It shows everything: not for publication.")
    if matrix.note is not None and not matrix.unmade:
        console().print(escape(matrix.note))
    return FINE


def _refuse_unknown_domain(surveyed: Survey, matrix: Matrix, domain: str) -> None:
    if any(tool.kind != "undecorated" for tool in matrix.tools):
        return
    known = {
        name
        for tool in surveyed.tools
        if tool.declaration is not None and tool.authority is not None
        for name in tool.declaration.domains or (tool.authority.settings.default_domain,)
    }
    if known:
        raise CannotRunError(f"No tool is in the domain {domain!r}. There are: {', '.join(sorted(known))}.")


def _write(output: Path, text: str) -> None:
    try:
        output.write_bytes(text.encode("utf-8", "replace"))  # as it is: the policy has hashes of it
    except OSError as error:
        raise CannotRunError(f"{output} cannot be written: {error.strerror}.") from error


def rendered(matrix: Matrix) -> str:
    """The page. It loads nothing, and its policy lets nothing run but its own script.

    Everything that comes from the server goes into one element of JSON, with no `<` in it, and its name into the title.
    """
    style, script = _template("page.css"), _template("page.js") + _template("page_panel.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    parts = {
        "policy": policy,
        "title": html.escape(matrix.server),
        "style": style,
        "script": script,
        "data": _json_for_html(_for_page(matrix)),
    }
    # In one pass: what is put in may look like a place to put something in.
    return _PLACE.sub(lambda found: parts[found[1]], _template("page.html"))


_PLACE: Final = re.compile(r"\{\{(policy|title|style|script|data)\}\}")


def _template(name: str) -> str:
    return files("fastmcp_authz.commands").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _for_page(matrix: Matrix) -> dict[str, Any]:
    """The data, its schemas written out once each: JavaScript would round large numbers in them."""
    data = matrix.as_json()
    texts: dict[str, int] = {}

    def kept(schema: Any) -> int | None:
        if schema is None:
            return None
        return texts.setdefault(json.dumps(schema, ensure_ascii=False, indent=2), len(texts))

    for tool in data["tools"]:
        for listing in tool["listings"]:
            listing.update(input=kept(listing["input"]), output=kept(listing["output"]))
    return {**data, "schemas": list(texts)}


def _json_for_html(value: Any) -> str:
    """JSON that ends no script element and opens no comment, in ASCII."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")
