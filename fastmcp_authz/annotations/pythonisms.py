"""Python's way of writing types where it has brackets, and what to write for it here.

Plain names such as `str` are names like any other at this floor: whether one is known is for `contracts/` to say.
"""

from __future__ import annotations

from fastmcp_authz.annotations.syntax import Name, Nilable, Type, Union


def meant(written: Name) -> Type | None:
    """Return the type that `Optional[T]`, `Union[A, B]` or `Literal["a", "b"]` means, or None for any other name."""
    arguments = written.arguments
    if written.name == "Optional" and len(arguments) == 1:
        return arguments[0] if isinstance(arguments[0], Nilable) else Nilable(arguments[0], at=written.at)
    if written.name in ("Union", "Literal") and arguments:
        return arguments[0] if len(arguments) == 1 else Union(arguments, at=written.at)
    return None
