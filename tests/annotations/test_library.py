"""Shared `.rbs` files: what is found, what is refused, what is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastmcp_authz.annotations import Import, Library, shared_folders
from fastmcp_authz.annotations.library import _parse_file
from tests.annotations.trees import AT, messages, read


def load(library: Library, name: str) -> tuple[list[str], list[str]]:
    aliases, problems = library.load(Import(name, at=AT))
    return [str(alias) for alias in aliases], [problem.message for problem in problems]


def test_types_are_read_and_other_declarations_skipped() -> None:
    text = """\
# Types of the whole service.

use Foo::Bar
class Applicant < Base[untyped]
  attr_reader type: String
  type row = { id: String }   # its own
  def type: (String) -> {
    id: String
  }
end

type page[T] =

  # blank lines are no ends here
  | { items: Array[T],

      next: String? @desc(First
        # and second) }

  | error
type error = { code: "a" | 'b' } # last
interface _Each end
"""
    assert load(Library(texts={"types.rbs": text}), "types") == (
        [
            "type page[T] = { items: Array[T], next: String? @desc(First # and second) } | error",
            'type error = { code: "a" | "b" }',
        ],
        [],
    )


@pytest.mark.parametrize(
    "other",
    [
        "class A end",
        "class A\n  type b = c\nend",
        "module A : _B\n  class C[out T] < D[T]\n    type b = c\n  end\n  type b = d\nend",
        "interface _A\n  def end: () -> class\n  def self.end: () -> (class | end)\n  type b = c\nend",
        "class A\n  attr_reader end: Integer\n  alias end finish\n  @end: Integer\n  type b = c\nend",
        "class A\n  def f: (Integer start, Integer end) -> { end: Integer }\n  type b = c\nend # class D",
        "class A\n  # class B\n  type b = :end | 'end' | \"class C\"\nend",
        "module A module B\n  type b = c\nend end",
        "class A = B\nmodule C = D::E",
        "end",
    ],
)
def test_what_is_declared_in_a_class_module_or_interface_is_its_own(other: str) -> None:
    expected: tuple[list[str], list[str]] = (["type a = { end: b, class: c }", "type z = a"], [])
    assert load(Library(texts={"t.rbs": f"type a = {{ end: b, class: c }}\n{other}\ntype z = a"}), "t") == expected


def test_one_forgotten_bracket_does_not_cost_the_rest_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "t.rbs").write_text("type a = {\n  type: b,\n\ntype c = d\r\ntype a = e\ntype c = f g\n")
    aliases, problems = Library([tmp_path]).load(Import("t", at=AT))
    assert [str(alias) for alias in aliases] == ["type c = d", "type a = e"]
    assert [(problem.where, problem.line, problem.column) for problem in problems] == [
        (str(tmp_path / "t.rbs"), 1, 9),
        (str(tmp_path / "t.rbs"), 6, 11),
        (str(tmp_path / "t.rbs"), 6, 5),
    ]


def test_texts_come_first_then_the_folders_in_order(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder / "sub").mkdir(parents=True)
        (tmp_path / folder / "b.rbs").write_text(f"type {folder} = String")
    (tmp_path / "two" / "sub" / "c.rbs").write_bytes(b"\xef\xbb\xbftype with_bom = String")
    library = Library([tmp_path / "one", tmp_path / "two"], {"a.rbs": "type a = b"})
    assert load(library, "a") == (["type a = b"], [])
    assert load(library, "b") == (["type one = String"], [])
    assert load(library, "sub/c") == (["type with_bom = String"], [])


def test_a_file_is_parsed_once_for_as_long_as_its_content_stays(tmp_path: Path) -> None:
    _parse_file.cache_clear()
    file = tmp_path / "a.rbs"
    file.write_text("type a = b")
    for _ in range(3):
        assert load(Library([tmp_path]), "a") == (["type a = b"], [])
    assert _parse_file.cache_info().misses == 1
    file.write_text("type a = c")
    assert load(Library([tmp_path]), "a") == (["type a = c"], [])


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/secret", "a/../../secret", "a\\b", "C:secret", "./a", "a//b", "a\0b", ".."]
)
def test_an_import_cannot_name_what_is_outside(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.rbs").write_text("type secret = String")
    (tmp_path / "shared").mkdir()
    library = Library([tmp_path / "shared"], {f"{name}.rbs": "type secret = String"})
    assert load(library, name) == (
        [],
        [
            f"`@rbs import {name}` leaves the shared folders: an import is the name of a file in one of them, "
            "without `..`, a leading `/` or backslashes."
        ],
    )


def test_a_link_cannot_lead_outside(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (tmp_path / "secret.rbs").write_text("type secret = String")
    (shared / "file.rbs").symlink_to(tmp_path / "secret.rbs")
    (shared / "folder").symlink_to(tmp_path)
    (shared / "inside.rbs").write_text("type inside = String")
    (shared / "link.rbs").symlink_to(shared / "inside.rbs")
    for name in ("file", "folder/secret"):
        assert load(Library([shared]), name) == (
            [],
            [f"`{shared}/{name}.rbs` is a link that leaves the shared folder: only files inside it can be imported."],
        )
    assert load(Library([shared]), "link") == (["type inside = String"], [])


def test_links_in_a_circle_and_unreadable_files_are_problems(tmp_path: Path) -> None:
    (tmp_path / "loop.rbs").symlink_to(tmp_path / "loop.rbs")
    (tmp_path / "latin.rbs").write_bytes(b"type a = '\xe9'")
    (tmp_path / "folder.rbs").mkdir()
    for name, message in (
        ("loop", "there is no `loop.rbs`."),
        ("latin", f"`{tmp_path}/latin.rbs` cannot be read: "),
        ("folder", "there is no `folder.rbs`."),
        ("n" * 5000, f"`{tmp_path}/"),
    ):
        aliases, problems = load(Library([tmp_path]), name)
        assert (aliases, len(problems)) == ([], 1)
        assert message in problems[0]


def test_a_missing_file_names_near_ones_and_where_it_was_searched(tmp_path: Path) -> None:
    (tmp_path / "error.rbs").write_text("")
    imported = read("Prose.\n@rbs import eror").imports[0]
    _, (problem,) = Library([tmp_path], {"people.rbs": ""}).load(imported)
    assert (problem.line, problem.column, problem.width) == (2, 12, 4)
    assert problem.message == (f"there is no `eror.rbs`. Did you mean `error`? Searched: the shared texts, {tmp_path}.")
    assert load(Library([tmp_path]), "error.rbs") == ([], ["an import is written without `.rbs`: `@rbs import error`."])
    assert load(Library(), "error,person") == (
        [],
        ["`error,person` is no file: one import names one file, and each stands on a line of its own."],
    )
    assert load(Library(), "x") == (
        [],
        ["there is no `x.rbs`. Searched: no folder: there is no `sig/shared` beside the module or above it."],
    )


def test_control_characters_in_a_file() -> None:
    assert load(Library(texts={"a.rbs": "type a = b\n\f"}), "a")[1] == [
        "a control character, U+000C, stands here, most likely written as a backslash escape: remove it."
    ]


def test_shared_folders_are_the_given_ones_then_the_nearest_first(tmp_path: Path) -> None:
    module = tmp_path / "app" / "tools" / "comms.py"
    near, far, extra = module.parent / "sig" / "shared", tmp_path / "sig" / "shared", tmp_path / "extra"
    near.mkdir(parents=True)
    far.mkdir(parents=True)
    assert shared_folders(module, [extra, extra])[:3] == (extra, near, far)
    assert shared_folders(None, [extra]) == (extra,)
    assert shared_folders(Path("/nowhere.py"), []) == ()


def test_an_import_with_parts_is_read_as_written() -> None:
    assert messages("@rbs import ../x\n@rbs import a/b#c") == []
    assert [imported.name for imported in read("@rbs import ../x\n@rbs import a/b # c").imports] == ["../x", "a/b"]
