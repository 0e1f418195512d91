"""`@authorized_tool`: reads the contract of a function, and returns its guard."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack, cast, overload

from fastmcp.decorators import get_fastmcp_meta

from fastmcp_authz.callers.predicates import RESERVED, Predicate, Value, authorization
from fastmcp_authz.contracts.sides import SharedTypes
from fastmcp_authz.errors import ContractError, Problem, near_names
from fastmcp_authz.serving.declaration import ContentPolicy, Declaration, Description, carried
from fastmcp_authz.serving.declaring import read_contract
from fastmcp_authz.serving.guard import guarded
from fastmcp_authz.serving.signatures import read_signature
from fastmcp_authz.settings import DOMAIN, Settings, preset_settings

Function = TypeVar("Function", bound=Callable[..., Any])

_PAIRS = 'write gates=[("feature", "sms")].'


class DeclarationOptions(TypedDict, total=False):
    """What `authorized_tool` takes."""

    authorization: str | None
    """Permission for the whole tool: `context.current_user.can(...)`."""
    gates: Iterable[tuple[str, Value]]
    """Predicates for the whole tool, as on fields: `[("feature", "sms")]`. All must hold."""
    description: Description
    """In place of the docstring's prose: a text, or a function of the server context, which may be async."""
    domains: Iterable[str]
    """The domains that serve it, segments of a path; none given: the server's default one."""
    category: str | None
    """The group that a facade lists it in."""
    category_summary: str | None
    """What the group is about, if nothing else says so."""
    content: ContentPolicy
    """`"passthrough"`: content blocks of the function's own making are sent as they are."""
    shared_types: SharedTypes
    """Where `@rbs import` looks first: a folder, several, or texts by file name."""
    shared_type_paths: Iterable[str | Path]
    """More folders of shared `.rbs` files."""
    known_predicates: Iterable[str]
    """Predicate names that look like a slip of a tag and are none."""
    settings: Settings | None
    """What the declaration is read with; the environment's where `None`. What is served follows the server's."""


@overload
def authorized_tool(fn: Function, /) -> Function: ...
@overload
def authorized_tool(**options: Unpack[DeclarationOptions]) -> Callable[[Function], Function]: ...
def authorized_tool(
    fn: Callable[..., Any] | None = None, /, **options: Unpack[DeclarationOptions]
) -> Callable[..., Any]:
    """Declares a tool whose contract, in its docstring, is each caller's own.

    Stands nearest the function, under `@mcp.tool`. What it returns is the plain function for plain Python, and runs
    inside a server only for callers whom `Authz` has admitted; `fn.__wrapped__` is the original.

    ```python
    @mcp.tool
    @authorized_tool(authorization="comms", gates=[("feature", "sms")])
    def bulk_send_sms(body: str, force: bool = False) -> dict:
        \"\"\"Send one text message to many applicants.

        @rbs type output = { queued: Integer, ?cost_cents: Integer @requires(:billing) }

        #: (body: String @max(160), ?force: bool @requires(:admin)) -> output
        \"\"\"
    ```

    Options: see `DeclarationOptions`.

    Raises:
        ContractError: The declaration is wrong. Everything that is, is listed, with its line.
    """
    if fn is not None:
        return _declared(fn, options)
    return lambda function: _declared(function, options)


def _declared(fn: Callable[..., Any], options: DeclarationOptions) -> Callable[..., Any]:
    _must_be_nearest_the_function(fn)
    refuse_unknown_options(options, DeclarationOptions, "authorized_tool")
    signature = read_signature(fn)
    gates, problems = _gates(options)
    problems += [*_single_texts(options), *_names(options)]
    content = options.get("content", "pruned")
    if content not in ("pruned", "passthrough"):
        problems.append(Problem(f'content={content!r} is not known: write "pruned" or "passthrough".'))
    contract = read_contract(
        fn, signature, shared_types=options.get("shared_types", ()), settings=_settings(options), also=problems
    )
    keep = {*contract.open_parameters, *signature.injected, signature.receiver or ""}
    declaration = Declaration(
        contract=contract,
        original=fn,
        guard=guarded(fn, keep=keep, doc=(not gates and contract.description) or None, hints=signature.hints),
        gates=gates,
        description=options.get("description"),
        content=content,
        domains=tuple(options.get("domains", ())),
        category=options.get("category"),
        category_summary=options.get("category_summary"),
    )
    declaration.attach()
    return declaration.guard


def refuse_unknown_options(options: Mapping[str, object], known: Any, of: str) -> None:
    """Checks keyword arguments, which Python itself does not: a misspelt `authorization=` would open the tool.

    Raises:
        ContractError: An option is none of `known`, a `TypedDict`.
    """
    names = sorted(known.__optional_keys__)
    problems = []
    for option in options:
        if option not in names:
            near = near_names(option, names)
            meant = f"did you mean `{near[0]}=`?" if near else f"it takes {', '.join(names)}."
            problems.append(Problem(f"`{option}=` is no option of {of}: {meant}"))
    if problems:
        raise ContractError(f"{of} does not take what it was given.", problems)


def _must_be_nearest_the_function(fn: Any) -> None:
    name = getattr(fn, "__name__", type(fn).__name__)
    if isinstance(fn, classmethod | staticmethod):
        raise _misplaced(
            name, f"Swap the lines: `@{type(fn).__name__}` above, `@authorized_tool` nearest the function."
        )
    if not inspect.isfunction(fn):
        raise _misplaced(name, f"It decorates functions and methods; this is a {type(fn).__name__}.")
    if carried(fn) is not None:
        raise _misplaced(name, "It is there twice: remove one.")
    if get_fastmcp_meta(fn) is not None:
        raise _misplaced(
            name,
            "Swap the lines: `@mcp.tool` above, `@authorized_tool` nearest the function. As it stands, the bare "
            "function was registered, and everybody could call it.",
        )


def _misplaced(name: str, advice: str) -> ContractError:
    return ContractError(f"@authorized_tool stands in a wrong place above {name}.", [Problem(advice)])


def _gates(options: DeclarationOptions) -> tuple[tuple[Predicate, ...], list[Problem]]:
    gates: list[Predicate] = []
    problems: list[Problem] = []
    flag = options.get("authorization")
    if flag is not None:
        if _is_name(flag):
            gates.append(authorization(flag))
        else:
            problems.append(Problem(f'authorization={flag!r} must be the name of a permission: authorization="comms".'))
    given: Any = options.get("gates", ())
    if not isinstance(given, Iterable) or isinstance(given, Mapping) or any(isinstance(gate, str) for gate in given):
        return (), [*problems, Problem(f"gates={given!r} is no list of pairs: {_PAIRS}")]
    for gate in given:
        match cast("object", gate):
            case (str(name), None | str() | int() | float() as value) if _may_be_asked(name):
                gates.append(Predicate(name, value))
            case _:
                problems.append(
                    Problem(
                        f"the gate {gate!r} cannot be asked: write the name of a method of the context and a plain "
                        f"value. {_PAIRS}"
                    )
                )
    return tuple(dict.fromkeys(gates)), problems


def _single_texts(options: DeclarationOptions) -> list[Problem]:
    """A text where several are expected would be taken for its letters."""
    found = ((name, options.get(name)) for name in ("known_predicates", "shared_type_paths", "domains"))
    return [
        Problem(f"{name}={text!r} is one text: write {name}=[{text!r}].")
        for name, text in found
        if isinstance(text, str)
    ]


def _names(options: DeclarationOptions) -> list[Problem]:
    """What becomes part of a path, or of the name of a tool."""
    domains = options.get("domains", ())
    named: list[tuple[str, object]] = [] if isinstance(domains, str) else [("domains", each) for each in domains]
    if options.get("category") is not None:
        named.append(("category", options["category"]))
    return [
        Problem(f"{option}: {name!r} is no name: letters, digits, `-`, `_` and `.`, the first a letter or a digit.")
        for option, name in named
        if not isinstance(name, str) or re.fullmatch(DOMAIN, name) is None
    ]


def _is_name(flag: object) -> bool:
    return isinstance(flag, str) and flag != ""


def _may_be_asked(name: str) -> bool:
    return name.isidentifier() and not name.startswith("_") and name not in RESERVED


def _settings(options: DeclarationOptions) -> Settings:
    settings = options.get("settings") or preset_settings()
    paths, known = options.get("shared_type_paths", ()), options.get("known_predicates", ())
    more: dict[str, Any] = {}
    if paths:
        more["shared_type_paths"] = (*(Path(path) for path in paths), *settings.shared_type_paths)
    if known:
        more["known_predicates"] = settings.known_predicates | set(known)
    return settings.model_copy(update=more) if more else settings
