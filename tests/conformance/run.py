#!/usr/bin/env python3
"""Run conformance cases against the installed fastmcp_authz and print what falls short.

    python run.py [DIR-OR-FILE ...]        default: the cases/ beside this file

Exit status 0 only if every case that ran passed. README.md beside this file describes a case.
Contract cases go through ToolContract; cases with `tool`, `tools` or `contexts` through a real FastMCP server
and its in-memory client.
"""
from __future__ import annotations

import asyncio
import contextvars
import inspect
import json
import re
import sys
import textwrap
import traceback
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from jsonschema import Draft202012Validator, FormatChecker

import fastmcp_authz as fa


class Short(Exception):
    """What a case asked for and did not get."""


def need(condition: Any, message: str) -> None:
    if not condition:
        raise Short(message)


def text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


# -- the caller ---------------------------------------------------------------------------------------------------

class User:
    def __init__(self, spec: dict[str, Any]) -> None:
        self._can = set(map(str, spec.get("can", [])))
        self._defaults = spec.get("defaults", {})
        self._raises = "can" in spec.get("raises", []) or "requires" in spec.get("raises", [])

    def can(self, flag: Any) -> bool:
        if self._raises:
            raise RuntimeError("permission look-up is down: SECRET-DETAIL")
        return str(flag) in self._can

    def default_for(self, key: Any) -> Any:
        return self._defaults.get(str(key))


def make_context(spec: dict[str, Any] | None) -> Any:
    """A server context that has exactly the predicates that the case names."""
    if spec is None:
        return None

    def answering(family: str, granted: list[Any]) -> Any:
        def predicate(self: Any, value: Any) -> bool:
            if family in spec.get("raises", []):
                raise RuntimeError("predicate is down: SECRET-DETAIL")
            return str(value) in {str(g) for g in granted}
        return predicate

    families = dict(spec.get("predicates", {}))
    for family in spec.get("raises", []):
        if family not in ("can", "requires"):
            families.setdefault(family, [])
    body = {family: answering(family, granted) for family, granted in families.items()}
    context = type("Context", (), body)()
    if spec.get("user", {}) is not None:
        context.current_user = User(spec)
    return context


# -- reading schemas ----------------------------------------------------------------------------------------------

def resolve(node: Any, root: Any) -> Any:
    while isinstance(node, dict) and "$ref" in node:
        rest = {k: v for k, v in node.items() if k != "$ref"}
        node = {**root["$defs"][unquote(node["$ref"]).removeprefix("#/$defs/")], **rest}
    return node


def pointer(root: Any, path: str) -> Any:
    node = root
    for token in path.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        while isinstance(node, dict) and "$ref" in node and token not in node:
            node = root["$defs"][unquote(node["$ref"]).removeprefix("#/$defs/")]
        node = node[int(token)] if isinstance(node, list) else node[token]
    return node


def same(a: Any, b: Any) -> bool:
    """Equal as JSON: 1 is not true, the order of keys does not matter."""
    return json.dumps(a, sort_keys=True, default=str) == json.dumps(b, sort_keys=True, default=str)


def accepts(schema: Any, value: Any) -> bool:
    return Draft202012Validator(schema, format_checker=FormatChecker()).is_valid(value)


# -- contract cases -----------------------------------------------------------------------------------------------

RENAMED = {"nilable_input": "nullable_inputs"}


def settings_of(case: dict[str, Any]) -> Any:
    config = {RENAMED.get(k, k): v for k, v in case.get("config", {}).items() if k not in ("facets", "categories")}
    return fa.Settings(**config)


def parse(case: dict[str, Any]) -> Any:
    return fa.ToolContract.parse(case["annotation"], name="tool", shared_types=case.get("shared", {}), settings=settings_of(case))


def run_contract(case: dict[str, Any]) -> None:
    expect = case["expect"]
    if "error" in expect:
        try:
            parse(case).view(make_context(case.get("context", {})), settings=settings_of(case))
        except fa.ContractError as error:
            need(str(error).strip(), "the error says nothing")
            return
        raise Short(f"no ContractError ({expect['error']})")

    contract = parse(case)
    view = contract.view(make_context(case["context"]), settings=settings_of(case))
    schemas = {"input": view.input_schema, "output": view.output_schema}
    for side, schema in schemas.items():
        if schema is not None:
            Draft202012Validator.check_schema(schema)
        check_schema(expect, side, schema)
    given = schemas["input"]
    if "input_properties" in expect:
        got = sorted(resolve(given, given).get("properties", {}))
        need(got == sorted(expect["input_properties"]), f"input properties {got}")
    if "input_required" in expect:
        got = sorted(resolve(given, given).get("required", []))
        need(got == sorted(expect["input_required"]), f"input required {got}")
    if not case.get("config", {}).get("strict_schema"):   # there, more is enforced than shown
        run_instances(view, expect)
    if "call" in expect:
        run_call(view, expect["call"])
    if "returns" in expect:
        run_return(view, expect)
    again = contract.view(make_context(case["context"]), settings=settings_of(case))
    need(text(again.input_schema) == text(given), "a second view has another input schema")


def check_schema(expect: dict[str, Any], side: str, schema: Any) -> None:
    exact = expect.get(f"{side}_schema")
    if exact is not None:
        # a closed root is always allowed: unknown keys are refused anyway
        trimmed = {k: v for k, v in (schema or {}).items() if k != "additionalProperties"}
        need(same(schema, exact) or same(trimmed, exact), f"{side} schema {text(schema)}")
    for value in expect.get(f"{side}_valid", []):
        need(schema is not None and accepts(schema, value), f"{side} should accept {text(value)}: {text(schema)}")
    for value in expect.get(f"{side}_invalid", []):
        need(schema is not None and not accepts(schema, value), f"{side} should reject {text(value)}: {text(schema)}")
    for path, want in expect.get("schema_contains", {}).get(side, {}).items():
        try:
            got = pointer(schema, path)
        except (KeyError, IndexError, TypeError):
            raise Short(f"{side}{path} is absent: {text(schema)}") from None
        need(same(want, got) or same(want, resolve(got, schema)), f"{side}{path} is {text(got)}, wanted {text(want)}")
    for path in expect.get("schema_absent", {}).get(side, []):
        try:
            pointer(schema, path)
        except (KeyError, IndexError, TypeError):
            continue
        raise Short(f"{side}{path} is present: {text(schema)}")
    for path, want in expect.get("raw_ref", {}).get(side, {}).items():
        got = pointer(schema, path)
        need(isinstance(got, dict) and got.get("$ref") == want, f"{side}{path} is no reference: {text(got)}")
    for word in expect.get("text_absent", {}).get(side, []):
        need(word not in text(schema), f"{word!r} occurs in the {side} schema")
    if side in expect.get("defs", {}):
        got = sorted((schema or {}).get("$defs", {}))
        need(got == sorted(expect["defs"][side]), f"{side} $defs {got}")


def run_instances(view: Any, expect: dict[str, Any]) -> None:
    """What the schema accepts and rejects is what the checks let through and refuse."""
    for kind in ("valid", "invalid"):
        for value in expect.get(f"input_{kind}", []):
            if not isinstance(value, dict):
                continue
            try:
                view.filter_input(value)
                refused = False
            except (fa.UnknownInputKeysError, fa.InvalidInputError):
                refused = True
            need(refused == (kind == "invalid"), f"input {text(value)} is {'refused' if refused else 'let through'}")
        for value in expect.get(f"output_{kind}", []):
            try:
                sent = view.filter_output(value)
            except fa.OutputWithheldError:
                need(kind == "invalid", f"output {text(value)} is withheld")
            else:   # what does not fit may be cut down to what does
                need(kind == "valid" or not same(sent, value), f"output {text(value)} is sent as it is")
                need(accepts(view.output_schema, sent), f"what is sent breaks the schema: {text(sent)}")


def run_call(view: Any, call: dict[str, Any]) -> None:
    try:
        received = view.filter_input(call["arguments"])
    except fa.UnknownInputKeysError as error:
        if call.get("refused"):
            return
        need("rejected" in call, f"refused: {error}")
        check_rejection(str(error), call["rejected"])
        return
    except fa.InvalidInputError as error:
        need(call.get("refused"), f"refused: {error}")
        need("othing was executed" in str(error), f"does not say that nothing was executed: {error}")
        return
    need("rejected" not in call and not call.get("refused"), f"not refused, got {text(received)}")
    need(same(received, call["handler_receives"]), f"handler receives {text(received)}")


def check_rejection(message: str, want: dict[str, Any]) -> None:
    unknown, accepted = ", ".join(sorted(want["unknown"])), ", ".join(sorted(want["accepted"]))
    need(f"Unknown parameters: {unknown}. Nothing was executed." in message, f"refusal reads: {message}")
    if accepted:
        need(f"Accepted parameters: {accepted}." in message, f"refusal reads: {message}")


def run_return(view: Any, expect: dict[str, Any]) -> None:
    try:
        sent = view.filter_output(expect["returns"])
    except fa.OutputWithheldError as error:
        need("projected" not in expect, f"withheld: {error}")
        for word in expect.get("never_on_wire", []):
            need(word not in str(error), f"{word!r} is in the refusal: {error}")
        return
    need(not expect.get("withheld"), f"not withheld: {text(sent)}")
    if "projected" in expect:
        need(same(sent, expect["projected"]), f"sent {text(sent)}")
    for word in expect.get("never_on_wire", []):
        need(word not in text(sent), f"{word!r} was sent: {text(sent)}")
    need(accepts(view.output_schema, sent), f"what is sent breaks the schema: {text(sent)}")


# -- server cases -------------------------------------------------------------------------------------------------

CALLER: contextvars.ContextVar[Any] = contextvars.ContextVar("caller", default=None)


def make_tool(declared: dict[str, Any], case: dict[str, Any], ran: list[Any]) -> Any:
    """A plain function with the parameters that the annotation names, decorated as a server author would."""
    annotation = declared.get("annotation") or case.get("annotation") or ""
    names = fa.ToolContract.parse(annotation, name=declared["name"], shared_types=case.get("shared", {})).parameters
    missing = "\x00not sent"
    scope: dict[str, Any] = {"ran": ran, "missing": missing, "name": declared["name"]}
    parameters = ", ".join(f"{n}=missing" for n in names)
    received = ", ".join(f"{n!r}: {n}" for n in names)
    source = f"""
        def tool({parameters}):
            got = {{{received}}}
            ran.append((name, {{k: v for k, v in got.items() if v != missing}}))
            return {{}}
    """
    exec(textwrap.dedent(source), scope)  # noqa: S102
    function = scope["tool"]
    function.__name__ = function.__qualname__ = declared["name"]
    words = declared.get("description", "")
    prose = words if isinstance(words, str) else ""
    function.__doc__ = f"{prose}\n\n{annotation}"
    options: dict[str, Any] = {k: declared[k] for k in ("authorization", "category", "category_summary", "domains")
                               if declared.get(k)}
    if declared.get("gates"):
        options["gates"] = [tuple(g) for g in declared["gates"]]
    if case.get("shared"):
        options["shared_types"] = case["shared"]
    if isinstance(words, dict):
        options["description"] = lambda context: words["then"] if context.current_user.can(words["if_can"]) else words["else"]
    return fa.authorized_tool(**options)(function)


def make_server(case: dict[str, Any], domain: str | None, ran: list[Any]) -> Any:
    from fastmcp import FastMCP

    config = {RENAMED.get(k, k): v for k, v in case.get("config", {}).items()}
    if domain is not None:
        config["domain"] = domain
    server = FastMCP("conformance", on_duplicate="error")
    fa.Authz(server, context=lambda *_: make_context(CALLER.get()), **config)
    tools = case.get("tools") or [{**case["tool"], "name": "tool"}]
    for declared in tools:
        server.add_tool(make_tool(declared, case, ran))
    return server


def dump(tools: Any) -> dict[str, Any]:
    return {t.name: t.model_dump(by_alias=True, exclude_none=True, mode="json") for t in tools}


async def listed(server: Any, caller: Any) -> dict[str, Any]:
    from fastmcp import Client

    token = CALLER.set(caller)
    try:
        async with Client(server) as client:
            return dump(await client.list_tools())
    finally:
        CALLER.reset(token)


async def called(server: Any, caller: Any, name: str, arguments: dict[str, Any]) -> Any:
    from fastmcp import Client

    token = CALLER.set(caller)
    try:
        async with Client(server) as client:
            return await client.call_tool_mcp(name, arguments)
    finally:
        CALLER.reset(token)


async def run_server(case: dict[str, Any]) -> None:
    expect = case["expect"]
    ran: list[Any] = []
    domain = (expect.get("listing") or expect.get("facade_call") or {}).get("domain")
    if domain is None and case.get("tools"):
        domain = case["tools"][0].get("domains", ["default"])[0]
    if "error" in expect:
        try:
            server = make_server(case, domain, ran)
        except fa.AuthzError as error:
            need(str(error).strip(), "the error says nothing")
            return
        refused: list[str] = []
        try:
            await listed(server, case.get("context", {}))
        except Exception as error:   # at the first request it reaches the client as an error that says little
            refused.append(str(error))
        need(refused, f"nothing was refused ({expect['error']})")
        return

    server = make_server(case, domain, ran)
    if "tool_visible" in expect:
        seen = "tool" in await listed(server, case["context"])
        need(seen == expect["tool_visible"], f"visible: {seen}")
        if not seen:
            result = await called(server, case["context"], "tool", {})
            nobody = await called(server, case["context"], "no_such_tool", {})
            need(result.is_error and not ran, "a hidden tool ran")
            need(result.content[0].text.replace("'tool'", "X") == nobody.content[0].text.replace("'no_such_tool'", "X"),
                 f"hidden and unknown differ: {result.content[0].text!r} {nobody.content[0].text!r}")
    if "listing" in expect:
        check_listing(await listed(server, case["context"]), expect["listing"])
    if "facade_call" in expect:
        await check_facade_call(server, case, expect["facade_call"], ran)
    for name in expect.get("sequence", []):
        caller = case["contexts"][name]
        got = await listed(server, caller)
        fresh = await listed(make_server(case, domain, []), caller)
        check_seen(got, case["contexts"][name], case)
        need(text(got) == text(fresh), f"{name} is served another listing: {text(got)[:300]} / {text(fresh)[:300]}")


def check_seen(by: dict[str, Any], caller: dict[str, Any], case: dict[str, Any]) -> None:
    """Independently of any cache: no permission or value that the caller lacks is behind anything that is listed."""
    seen = text(by)
    for key, value in caller.get("defaults", {}).items():
        others = [c.get("defaults", {}).get(key) for c in case["contexts"].values()]
        for other in others:
            if isinstance(other, str) and other != value and len(other) > 3 and f'"default": "{other}"' in seen:
                raise Short(f"another caller's default {other!r} is listed")


def check_listing(by: dict[str, Any], want: dict[str, Any]) -> None:
    need(sorted(by) == sorted(want["names"]), f"listed {sorted(by)}")
    for tool in by.values():
        Draft202012Validator.check_schema(tool["inputSchema"])
    for name, enum in want.get("tool_name_enum", {}).items():
        got = by[name]["inputSchema"]["properties"]["tool_name"]["enum"]
        need(sorted(got) == sorted(enum), f"{name} offers {got}")
    for name, words in want.get("describes", {}).items():
        for word in words:
            need(word in by[name]["description"], f"{word!r} is not in {by[name]['description']!r}")
    for name, words in want.get("does_not_describe", {}).items():
        for word in words:
            need(word not in by[name]["description"], f"{word!r} is in {by[name]['description']!r}")
    for name, inner in want.get("meta_properties", {}).items():
        for tool, properties in inner.items():
            got = sorted(by[name]["_meta"]["tool-input-schemas"][tool].get("properties", {}))
            need(got == sorted(properties), f"{name} meta of {tool}: {got}")
    for name in want.get("no_meta", []):
        need("tool-input-schemas" not in by[name].get("_meta", {}), f"{name} carries schemas in _meta")
    for name, inner in want.get("schema_contains", {}).items():
        for path, value in inner.items():
            need(same(pointer(by[name]["inputSchema"], path), value), f"{name}{path}")
    for name, paths in want.get("schema_absent", {}).items():
        for path in paths:
            try:
                pointer(by[name]["inputSchema"], path)
            except (KeyError, IndexError, TypeError):
                continue
            raise Short(f"{name}{path} is present")
    for word in want.get("absent_text", []):
        need(not re.search(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])", text(by)), f"{word!r} is in the listing")


async def check_facade_call(server: Any, case: dict[str, Any], call: dict[str, Any], ran: list[Any]) -> None:
    now = case["context"] if "context" in case else case["contexts"]["now"]
    if "contexts" in case and "listed" in case["contexts"]:
        await listed(server, case["contexts"]["listed"])
    result = await called(server, now, call["name"], call["arguments"])
    message = " ".join(getattr(block, "text", "") for block in result.content)
    if "runs" in call:
        want = (call["runs"]["tool"], call["runs"]["handler_receives"])
        need(ran == [want], f"ran {ran}, answered {message!r}")
        return
    need(not ran, f"ran {ran}")
    need(result.is_error, f"no error: {message!r}")
    if "rejected_by_tool" in call:
        need(message.startswith(call["rejected_by_tool"]["tool"] + ":"), f"refusal reads: {message}")
        check_rejection(message, call["rejected_by_tool"])
    if "rejected_by_facade" in call:
        need(message.startswith(call["name"] + ":") and "arguments" in message, f"refusal reads: {message}")
        for key in call["rejected_by_facade"]["unknown"]:
            need(key in message, f"{key!r} is not named: {message}")
    if call.get("no_such_tool"):
        need("Unknown tool" in message, f"refusal reads: {message}")
    if call.get("bad_arguments"):
        need("arguments" in message, f"refusal reads: {message}")
    if "unknown_tool" in call:
        for name in call["unknown_tool"]["available"]:
            need(name in message, f"{name!r} is not offered: {message}")


# -- all of them --------------------------------------------------------------------------------------------------

SKIPPED = {"annotations", "same_key", "different_key"}   # hints are FastMCP's own; cache keys are no public matter


def run(case: dict[str, Any]) -> bool:
    expect = {k: v for k, v in case["expect"].items() if k not in SKIPPED}
    if not expect:
        return False
    case = {**case, "expect": expect}
    if any(k in case for k in ("tool", "tools", "contexts")):
        asyncio.run(run_server(case))
        if "tool" in case and expect.get("tool_visible", True) and "annotation" in case and case["context"] is not None:
            run_contract({**case, "expect": {k: v for k, v in expect.items() if k != "tool_visible"}})
    elif case.get("context", {}) is None:
        run_contract(case)
    else:
        run_contract(case)
    return True


def main(arguments: list[str]) -> int:
    roots = [Path(a) for a in arguments] or [Path(__file__).parent / "cases"]
    files = [f for root in roots for f in (sorted(root.glob("*.json")) if root.is_dir() else [root])]
    passed, failed, skipped = 0, [], 0
    for file in files:
        for case in json.loads(file.read_text(encoding="utf-8")):
            try:
                if run(case):
                    passed += 1
                else:
                    skipped += 1
            except Short as short:
                failed.append(f"{case['id']}: {short}")
            except Exception as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                failed.append(f"{case['id']}: {type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})")
    for line in failed:
        print(line[:700])
    print(f"{passed} passed, {len(failed)} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    assert inspect.isfunction(fa.authorized_tool)
    raise SystemExit(main(sys.argv[1:]))
