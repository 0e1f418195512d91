"""The page in a real browser: by mouse, by keyboard alone, on a phone, in the dark, and to a screen reader."""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

import pytest
import pytest_asyncio
from fastmcp import FastMCP
from playwright.async_api import Browser, Page, ViewportSize, async_playwright, expect

from fastmcp_authz import Authz
from fastmcp_authz.commands.page import rendered
from fastmcp_authz.survey.matrix import matrix_of
from fastmcp_authz.survey.survey import survey

# One browser and one loop for the module: starting it takes longer than any of the tests.
pytestmark = pytest.mark.asyncio(loop_scope="module")

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
DESKTOP: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 360, "height": 740}
HOSTILE = "</script><img src=x onerror=\"document.title='broken in'\">"

expect.set_options(timeout=30_000)  # a busy machine is no fault of the page

Opening: TypeAlias = Callable[..., AbstractAsyncContextManager[Page]]


def holder(*flags: str) -> Callable[[], SimpleNamespace]:
    return lambda: SimpleNamespace(requires=lambda flag: flag in flags)


def small() -> FastMCP[Any]:
    mcp = FastMCP("notes")
    personas = {"reader": holder("read"), "editor": holder("read", "write", "mail"), HOSTILE: holder()}
    authz = Authz(mcp, context=lambda request: None, personas=personas)

    @authz.tool(authorization="read")
    def find_notes(word: str, deleted: bool = False) -> dict[str, Any]:
        """Find notes.

        @rbs type author = { name: String, ?mail: String @requires(:mail) }
        @rbs type note = { title: String, author: author }
        @rbs type found = { notes: Array[note], word: String }
        @rbs type failed = { message: String, ?trace: String @requires(:audit) }
        @rbs type output = found | failed
        #: (word: String, ?deleted: bool @requires(:write) @desc(In the bin as well)) -> output
        """
        return {"notes": []}

    @authz.tool(authorization="write", description=HOSTILE)
    def empty_bin() -> dict[str, Any]:
        """Empty the bin.

        @rbs type output = { deleted: Integer @desc(<b>How many</b>) }
        """
        return {"deleted": 0}

    @mcp.tool
    def ping() -> str:
        """Answer."""
        return "pong"

    return mcp


def large(tools: int) -> FastMCP[Any]:
    mcp = FastMCP("large")
    personas = {f"persona_{i}": holder(*(f"flag_{j}" for j in range(i))) for i in range(8)}
    authz = Authz(mcp, context=lambda request: None, personas=personas)
    for number in range(tools):

        def tool(a: int = 0, b: int = 0) -> dict[str, Any]:
            return {}

        tool.__name__ = f"tool_{number}"
        tool.__doc__ = f"""Do {number}.

        @rbs type output = {{ result_{number}: String, ?score: Float @requires(:flag_5) }}
        #: (?a: Integer, ?b: Integer @requires(:flag_3)) -> output
        """
        authz.tool(authorization=f"flag_{number % 8}")(tool)
    return mcp


def browser_path() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    pytest.fail("The page is tested in a browser: install Debian's `chromium`, or put google-chrome on the PATH.")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=browser_path(), args=FLAGS.split())
        try:
            yield browser
        finally:
            await browser.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opening(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Opening:
    """Opens a page of a server. Afterwards it must have asked for nothing and complained of nothing."""
    folder = tmp_path_factory.mktemp("pages")
    made: dict[str, Path] = {}

    async def written(server: FastMCP[Any]) -> Path:
        if server.name not in made:
            made[server.name] = folder / f"{server.name}.html"
            made[server.name].write_text(rendered(await matrix_of(await survey(server))), encoding="utf-8")
        return made[server.name]

    @asynccontextmanager
    async def opened(
        server: FastMCP[Any] | None = None, *, to: str = "", viewport: ViewportSize = DESKTOP, dark: bool = False
    ) -> AsyncIterator[Page]:
        file = await written(small() if server is None else server)
        context = await browser.new_context(viewport=viewport, color_scheme="dark" if dark else "light", offline=True)
        page = await context.new_page()
        asked: list[str] = []
        complaints: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        try:
            await page.goto(file.as_uri() + to)
            yield page
            assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
            assert len([url for url in asked if url.startswith("file:")]) == 1
            assert complaints == []
            assert await page.title() != "broken in"
        finally:
            await context.close()

    return opened


async def shows(page: Page, *rows: str) -> None:
    """Waits until the table has these rows and no others."""
    await expect(page.locator("#matrix tbody tr:not(.group):visible th")).to_have_text(rows, use_inner_text=True)


async def focused(page: Page) -> str:
    return str(
        await page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText")
    )


async def test_marks_say_who_sees_a_tool_in_words_and_in_shapes(opening: Opening) -> None:
    async with opening() as page:
        await shows(page, "find_notes", "empty_bin", "ping")
        line = page.locator("#matrix tbody.tool tr").first.locator("td button")
        assert await line.all_inner_texts() == ["✓ 9/12", "✓ 11/12", "\N{EN DASH}"]
        assert [await cell.get_attribute("aria-label") for cell in await line.all()] == [
            "find_notes, reader: seen, 9 of 12 inputs and outputs",
            "find_notes, editor: seen, 11 of 12 inputs and outputs",
            f"find_notes, {HOSTILE}: not seen",
        ]


async def test_a_tool_folds_open_to_its_parts(opening: Opening) -> None:
    async with opening() as page:
        fold = page.get_by_label("Inputs and outputs of find_notes")
        await expect(fold).to_have_attribute("aria-expanded", "false")
        await fold.click()
        await expect(fold).to_have_attribute("aria-expanded", "true")
        await shows(
            page,
            *("find_notes", "word", "deleted?"),
            *("| found", "notes", "title", "author", "name", "mail?", "word", "| failed", "message", "trace?"),
            *("empty_bin", "ping"),
        )
        name, mail = (
            page.locator("tr", has=page.get_by_role("button", name=word, exact=True)) for word in ("author", "mail?")
        )
        boxes = [
            await each.locator(".name").evaluate("e => parseFloat(getComputedStyle(e).paddingLeft)")
            for each in (name, mail)
        ]
        assert boxes[0] < boxes[1]
        assert 'requires("mail")' in await mail.locator("td.guards").inner_text()
        await fold.click()
        await shows(page, "find_notes", "empty_bin", "ping")


async def test_search_finds_tools_fields_and_predicates(opening: Opening) -> None:
    async with opening() as page:
        search, found = page.get_by_role("searchbox"), page.get_by_role("status")
        await search.fill("MAIL")
        await expect(found).to_have_text("1 tool, 1 field found")
        await shows(page, "find_notes", "| found", "notes", "author", "mail?")
        await search.fill("requires write")
        await expect(found).to_have_text("1 tool, 1 field found")
        await shows(page, "find_notes", "deleted?")
        await search.fill('can("write")')
        await expect(found).to_have_text("1 tool, 0 fields found")
        await shows(page, "empty_bin")
        await search.fill("nothing like it")
        await expect(page.get_by_text("Nothing here matches.")).to_be_visible()
        await search.fill("")
        await expect(found).to_have_text("")
        await shows(page, "find_notes", "empty_bin", "ping")


async def test_the_filter_leaves_what_differs_between_personas(opening: Opening) -> None:
    async with opening() as page:
        await page.get_by_label("Only what differs between personas").check()
        await expect(page.get_by_role("status")).to_have_text("2 tools found")
        await page.get_by_role("button", name="Unfold all").click()
        await expect(page.get_by_role("button", name="Fold all")).to_be_visible()
        await shows(
            page, *("find_notes", "deleted?", "| found", "notes", "author", "mail?", "| failed", "trace?", "empty_bin")
        )


async def test_a_cell_opens_the_explanation_and_the_schemas_of_its_persona(opening: Opening) -> None:
    async with opening() as page:
        await page.get_by_label("Inputs and outputs of find_notes").click()
        await page.get_by_label("find_notes.deleted, reader: not seen").click()
        panel = page.get_by_role("dialog", name="find_notes.deleted")
        await expect(panel).to_contain_text("In the bin as well")
        await expect(panel.locator("#verdict")).to_have_text('Hidden from reader: requires("write") says no.')
        way = panel.get_by_role("table", name="Predicates on the way")
        told = await way.locator("tbody tr").all_inner_texts()
        assert [re.sub(r"\s+", " ", text) for text in told] == [
            f'current_user.can("read") find_notes, {place(1)} yes',
            f'requires("write") deleted, {place(2)} no',
        ]
        given = panel.get_by_role("region", name="Input schema as reader is listed it")
        assert '"word"' in await given.inner_text()
        assert "deleted" not in await given.inner_text()
        await panel.get_by_role("button", name="editor").click()
        await expect(panel.locator("#verdict")).to_have_text("Seen by editor: every predicate says yes.")
        assert await focused(page) == "editor"
        assert "deleted" in await panel.get_by_role("region", name="Input schema as editor is listed it").inner_text()
        await panel.get_by_role("button", name="</script>").click()
        await expect(panel).to_contain_text("is not listed this tool")
        answers = await way.locator("tbody tr td:last-child").all_inner_texts()
        assert answers == ["no", "not asked"]


def place(line: int) -> str:
    """Where this file declares it, from where the tests run."""
    text = Path(__file__).read_text(encoding="utf-8").splitlines()
    wanted = {1: '@authz.tool(authorization="read")', 2: "?deleted: bool @requires(:write)"}[line]
    number = next(i for i, each in enumerate(text, 1) if wanted in each)
    file = Path(__file__)
    return f"{file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file}:{number}"


async def test_a_row_opens_for_the_first_persona_that_sees_it(opening: Opening) -> None:
    async with opening() as page:
        await page.get_by_role("button", name="empty_bin", exact=True).click()
        panel = page.get_by_role("dialog", name="empty_bin")
        await expect(panel.locator("#verdict")).to_have_text("Seen by editor: every predicate says yes.")
        await expect(panel).to_contain_text(HOSTILE)  # the description, as text
        await expect(panel.locator("img")).to_have_count(0)
        await page.get_by_text("not decorated: everybody sees it").click()
        await expect(page.get_by_role("dialog", name="ping")).to_contain_text("everybody sees all of it")


async def test_the_whole_page_by_keyboard_alone(opening: Opening) -> None:
    async with opening() as page:
        press = page.keyboard.press
        await press("/")
        assert await focused(page) == "Search tools, fields and predicates"
        for _ in range(2):
            await press("Tab")
        assert await focused(page) == "Unfold all"
        for _ in range(2):  # the table's region, since it may scroll, then the one stop in it
            await press("Tab")
            if await focused(page) == "find_notes":
                break
        assert await focused(page) == "find_notes"
        await press("ArrowLeft")
        assert await focused(page) == "Inputs and outputs of find_notes"
        await press("Enter")
        await press("ArrowDown")
        assert await focused(page) == "word"
        await press("ArrowDown")
        await press("ArrowRight")
        assert await focused(page) == "find_notes.deleted, reader: not seen"
        outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"
        await press("Enter")
        assert await focused(page) == "find_notes.deleted"
        await press("Tab")
        assert await focused(page) == "Close"
        await press("Escape")
        await expect(page.locator("#panel")).to_be_hidden()
        assert await focused(page) == "find_notes.deleted, reader: not seen"
        await press("End")
        assert await focused(page) == f"find_notes.deleted, {HOSTILE}: not seen"
        await press("Control+End")
        assert await focused(page) == f"ping, {HOSTILE}: seen"
        await press("PageUp")
        assert (await focused(page)).startswith("find_notes → <found>")
        await press("Control+Home")
        assert await focused(page) == "Inputs and outputs of find_notes"
        await press("Shift+Tab")
        await press("Tab")
        assert await focused(page) == "Inputs and outputs of find_notes"


async def test_closing_by_button_gives_focus_back_even_where_its_row_is_gone(opening: Opening) -> None:
    async with opening() as page:
        await page.get_by_label("find_notes, reader").click()
        await page.get_by_role("button", name="Close").click()
        assert (await focused(page)).startswith("find_notes, reader")
        await page.get_by_label("find_notes, reader").click()
        await page.get_by_role("searchbox").fill("ping")
        await expect(page.get_by_role("status")).to_have_text("1 tool, 0 fields found")
        await page.get_by_role("button", name="Close").click()
        assert await focused(page) == "Search tools, fields and predicates"


async def test_addresses_open_what_they_name_and_follow_what_is_opened(opening: Opening) -> None:
    async with opening(to="#find_notes/deleted?as=editor") as page:
        verdict = page.locator("#verdict")
        await expect(page.get_by_role("dialog", name="find_notes.deleted")).to_be_visible()
        await expect(verdict).to_contain_text("Seen by editor")
        await page.keyboard.press("Escape")
        assert await page.evaluate("location.hash") == ""
        assert await focused(page) == "deleted?"
        await page.evaluate("location.hash = '#find_notes/word'")
        await expect(page.locator("#panel-title + button")).to_be_visible()
        await expect(page.locator("#panel")).to_contain_text("Input, string")
        await page.evaluate("location.hash = '#find_notes/mail'")
        await expect(page.get_by_role("dialog", name="find_notes → <found>.notes[].author.mail")).to_be_visible()
        address = str(await page.evaluate("location.hash"))
        assert address == f"#find_notes/{'%3Cfound%3E.notes%5B%5D.author.mail'}?as=editor"
        for unknown in ("#nothing", "#%", "#matrix"):
            await page.evaluate("hash => { location.hash = hash }", unknown)
        await expect(page.get_by_role("dialog", name="find_notes → <found>.notes[].author.mail")).to_be_visible()


async def test_an_output_that_is_called_as_an_input_has_its_own_address(opening: Opening) -> None:
    mcp = FastMCP("echo")
    authz = Authz(mcp, context=lambda request: None)

    @authz.tool
    def echo(word: str) -> dict[str, Any]:
        """Echo.

        @rbs type output = { word: String }
        #: (word: String) -> output
        """
        return {"word": word}

    async with opening(mcp, to="#echo/output/word") as page:
        await expect(page.locator("#panel")).to_contain_text("Output, string")
        assert await page.evaluate("location.hash") == "#echo/output/word?as=nobody"
        await expect(page.get_by_text("This server names no personas.")).to_be_visible()


CONTRAST = """
() => {
  const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = parse(getComputedStyle(each).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return parse(getComputedStyle(document.body).backgroundColor);
  };
  const seen = {};
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest(".unseen, .skip")) continue;
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const key = `${element.tagName.toLowerCase()}.${element.className}`;
    seen[key] = Math.min(seen[key] ?? 99, ratio);
  }
  return seen;
}
"""


@pytest.mark.parametrize("dark", [False, True])
async def test_every_text_has_contrast_enough(opening: Opening, dark: bool) -> None:
    async with opening(to="#find_notes/deleted?as=reader", dark=dark) as page:
        await page.get_by_role("searchbox").fill("notes")
        await page.locator("#note").evaluate("e => { e.hidden = false; e.textContent = 'A note'; }")
        ratios: dict[str, float] = await page.evaluate(CONTRAST)
        assert {name: ratio for name, ratio in ratios.items() if ratio < 4.5} == {}
        assert {"button.mark", "button.name", "span.mark", "p.note", "pre.", "p.quiet"} <= ratios.keys()
        edge, page_ground = [
            await page.evaluate(f"getComputedStyle(document.querySelector('{where}')).{what}")
            for where, what in (("#search", "borderTopColor"), ("body", "backgroundColor"))
        ]
        assert contrast(edge, page_ground) >= 3


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        channels = [int(value) / 255 for value in re.findall(r"\d+", colour)[:3]]
        linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dark + 0.05)


async def test_the_theme_is_the_systems_until_it_is_switched(opening: Opening) -> None:
    async def is_dark(page: Page) -> bool:
        ground = await page.evaluate("getComputedStyle(document.body).backgroundColor")
        return contrast(ground, "rgb(0, 0, 0)") < 2

    async with opening(dark=True) as page:
        assert await is_dark(page)
        await page.get_by_role("button", name="Light theme").click()
        assert not await is_dark(page)
        await page.get_by_role("button", name="Dark theme").click()
        assert await is_dark(page)
    async with opening() as page:
        assert not await is_dark(page)
        await page.emulate_media(color_scheme="dark")
        assert await is_dark(page)
        await expect(page.get_by_role("button", name="Light theme")).to_be_visible()


async def test_a_phone_scrolls_the_table_and_never_the_page_sideways(opening: Opening) -> None:
    async with opening(viewport=PHONE) as page:
        sideways = "document.documentElement.scrollWidth > innerWidth"
        assert not await page.evaluate(sideways)
        first = page.locator("#matrix thead th").first
        before = await first.bounding_box()
        assert await page.locator("#matrix").evaluate("e => { e.scrollLeft = 300; return e.scrollLeft }") > 100
        assert await first.bounding_box() == before
        assert not await page.evaluate(sideways)
        await page.locator("#matrix").evaluate("e => { e.scrollLeft = 0 }")
        await page.get_by_label("find_notes, reader").click()
        panel = page.get_by_role("dialog", name="find_notes")
        assert await panel.evaluate("e => e.matches(':modal')")
        box = await panel.bounding_box()
        assert box is not None
        assert (box["x"], box["width"]) == (0, 360)
        assert not await page.evaluate(sideways)
        await page.keyboard.press("Escape")
        await expect(panel).to_be_hidden()
        assert (await focused(page)).startswith("find_notes, reader")


async def test_an_open_panel_survives_the_turning_of_a_tablet(opening: Opening) -> None:
    async with opening(to="#find_notes") as page:
        panel = page.locator("#panel")
        assert not await panel.evaluate("e => e.matches(':modal')")
        await page.set_viewport_size(PHONE)
        await expect(panel).to_be_visible()
        assert await panel.evaluate("e => e.matches(':modal')")


async def test_a_screen_reader_is_told_what_everything_is(opening: Opening) -> None:
    async with opening(to="#find_notes/deleted?as=reader") as page:
        tree = await page.locator("body").aria_snapshot()
        said = tree.replace("'", "")  # YAML quotes a line that has a colon in it
        for line in (
            "- banner:",
            '- heading "notes who sees what" [level=1]',
            "- search:",
            '- searchbox "Search tools, fields and predicates"',
            '- checkbox "Only what differs between personas"',
            "- main:",
            '- region "What each persona sees":',
            '- table "What each persona sees of notes":',
            '- columnheader "reader"',
            '- button "Inputs and outputs of find_notes" [expanded]',
            '- rowheader "deleted?":',
            '- button "find_notes.deleted, reader: not seen"',
            '- dialog "find_notes.deleted":',
            '- button "reader" [pressed]',
            '- table "Predicates on the way":',
            "- contentinfo:",
        ):
            assert line in said, f"{line} is not in\n{tree}"
        assert await page.locator("html").get_attribute("lang") == "en"
        assert await page.get_by_role("status").get_attribute("aria-live") == "polite"


async def test_on_paper_the_whole_table_stands_without_its_controls(opening: Opening) -> None:
    async with opening() as page:
        await page.get_by_role("button", name="Unfold all").click()
        await page.emulate_media(media="print", color_scheme="dark")
        await expect(page.get_by_role("searchbox")).to_be_hidden()
        assert await page.locator("#matrix").evaluate("e => getComputedStyle(e).overflow") == "visible"
        assert await page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        await expect(page.get_by_text("not for publication")).to_be_visible()
        await page.emulate_media(media="screen")
        await page.get_by_label("find_notes, reader").click()
        await page.emulate_media(media="print")
        await page.set_viewport_size({"width": 760, "height": 1000})
        table, panel = [await page.locator(each).bounding_box() for each in ("#matrix", "#panel")]
        assert table is not None
        assert panel is not None
        assert table["y"] + table["height"] <= panel["y"]


async def test_a_large_server_has_its_rows_bit_by_bit_as_they_are_wanted(opening: Opening) -> None:
    server = large(30)
    made = "document.querySelectorAll('#matrix tbody.part tr:not(.group)').length"
    async with opening(server) as page:
        assert await page.evaluate(made) == 0
        await page.locator("#search").fill("result_29")
        await expect(page.locator("#found")).to_have_text("1 tool, 1 field found")
        await shows(page, "tool_29", "result_29")
        await page.locator("#search").fill("")
        await expect(page.locator("#found")).to_have_text("")
        assert await page.evaluate(made) == 1
        assert await page.evaluate(f"document.getElementById('fold').click() ?? {made}") == 12 * 4 + 1
        await expect(page.locator("#matrix tbody.part tr:not(.group)")).to_have_count(30 * 4)
        head = page.locator("#matrix thead th").first
        before = await head.bounding_box()
        assert await page.locator("#matrix").evaluate("e => { e.scrollTop = 2000; return e.scrollTop }") == 2000
        assert await head.bounding_box() == before
    async with opening(server) as page:
        on_paper = f"document.getElementById('fold').click() ?? (dispatchEvent(new Event('beforeprint')), {made})"
        assert await page.evaluate(on_paper) == 30 * 4
