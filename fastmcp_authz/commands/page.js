// The table. The data stands in the page; everything is put into it as text, and rows inside a tool when they are wanted.

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const personas = data.personas;
const matrix = byId("matrix"), panel = byId("panel"), search = byId("search"), differs = byId("differs");
const wide = matchMedia("(min-width: 64rem)");
const MOST_AT_ONCE = 12;
const counted = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

function make(tag, attributes, ...inside) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...inside.filter((each) => each !== null));
  return made;
}

// A text that may break where a person would break it.
const breaking = (text) => text.split(/(?<=[_.:/,|(\[<-])/).flatMap((each, i) => (i ? [make("wbr"), each] : [each]));
const inCode = (text) => make("code", null, ...breaking(text));

// ---- What is known of each tool and part

const sees = (thing, persona) => thing.viewers.has(persona);
const label = (part) => (part.kind === "member" ? `| ${part.name}` : part.required ? part.name : `${part.name}?`);
const title = (tool, part) => (part ? `${tool.name}${part.side === "input" ? "." : " → "}${part.path}` : tool.name);
const lower = (...texts) => texts.join(" ").toLowerCase();

for (const tool of data.tools) {
  tool.viewers = new Set(tool.seen_by);
  tool.hay = lower(tool.name, tool.description, ...tool.gates);
  for (const part of tool.parts) {
    part.owner = part.above === null ? tool : tool.parts[part.above];
    part.depth = part.above === null ? 0 : part.owner.depth + 1;
    part.viewers = new Set(part.seen_by);
    part.hay = lower(part.path, part.type, part.description, ...part.guards);
    part.differs = part.viewers.size !== part.owner.viewers.size;
  }
  const some = tool.viewers.size > 0 && tool.viewers.size < personas.length;
  tool.differs = some || tool.listings.length > 1 || tool.parts.some((part) => part.differs);
  tool.open = false;
}

// ---- The table

const sign = (seen) => (seen === "none" ? "–" : "✓");

function cell(tool, part, persona, column) {
  const thing = part ?? tool;
  let seen = sees(thing, persona) ? "all" : "none", words = seen === "all" ? "seen" : "not seen", text = null;
  if (!part && seen === "all") {
    const of = tool.parts.length, n = tool.parts.filter((each) => sees(each, persona)).length;
    if (n < of) [seen, text, words] = ["some", `✓ ${n}/${of}`, `seen, ${n} of ${of} inputs and outputs`];
  }
  const name = `${title(tool, part)}, ${persona}: ${words}`;
  const button = make("button", { type: "button", class: "mark", "data-seen": seen, tabindex: -1, "data-column": column, "aria-label": name });
  button.textContent = text ?? sign(seen);
  button.opens = { tool, part, persona };
  return make("td", null, button);
}

function guards(thing, type) {
  const asked = (thing.gates ?? thing.guards).map(inCode);
  const kind = { undecorated: "not decorated: everybody sees it", unprotected: "no Authz: nobody can call it" }[thing.kind];
  const said = type ?? kind;
  return make("td", { class: "guards" }, said ? make("span", { class: "type" }, ...breaking(said)) : null, ...asked.flatMap((each) => [" ", each]));
}

function nameButton(tool, part) {
  const button = make("button", { type: "button", class: "name", tabindex: -1, "data-column": 1 }, ...breaking(part ? label(part) : tool.name));
  button.opens = { tool, part, persona: null };
  return button;
}

function toolBody(tool, index) {
  const ids = `in-${index} out-${index}`;
  tool.fold = make("button", {
    type: "button", class: "fold", tabindex: -1, "data-column": 0, "aria-expanded": "false", "aria-controls": ids,
    "aria-label": `Inputs and outputs of ${tool.name}`, disabled: tool.parts.length === 0,
  });
  tool.fold.folds = tool;
  tool.button = nameButton(tool, null);
  const head = make("th", { scope: "row" }, make("div", { class: "row" }, tool.fold, tool.button));
  const cells = personas.map((persona, i) => cell(tool, null, persona, i + 2));
  tool.body = make("tbody", { class: "tool" }, make("tr", null, head, ...cells, guards(tool)));
  tool.sides = [["input", "Inputs", `in-${index}`], ["output", "Outputs", `out-${index}`]].map(([side, words, id], i) =>
    Object.assign(make("tbody", { class: i ? "part last" : "part", id, hidden: true }), { side, words }));
  return [tool.body, ...tool.sides];
}

function partRow(tool, part) {
  part.button = nameButton(tool, part);
  part.button.style.setProperty("--depth", part.depth);
  const cells = personas.map((persona, i) => cell(tool, part, persona, i + 2));
  const type = part.kind === "member" ? "variant" : part.type;
  return make("tr", { class: part.kind }, make("th", { scope: "row" }, part.button), ...cells, guards(part, type));
}

// Makes the rows that are wanted and not there yet, each in its place.
function fill(tool) {
  for (const body of tool.sides) {
    const parts = tool.parts.filter((part) => part.side === body.side);
    if (!body.firstChild) {
      const heading = make("th", { scope: "rowgroup" }, parts.length ? body.words : `${body.words}: none`);
      body.append(make("tr", { class: "group" }, heading, make("td", { colspan: personas.length + 1 })));
    }
    body.firstChild.hidden = tool.wanted !== null && !parts.some((part) => tool.wanted.has(part));
    let next = null;
    for (const part of parts.reverse()) {
      const wanted = tool.wanted === null || tool.wanted.has(part);
      if (wanted && !part.row) body.insertBefore((part.row = partRow(tool, part)), next);
      if (part.row) part.row.hidden = !wanted;
      next = part.row ?? next;
    }
  }
}

function drawTable() {
  const columns = [make("col", { class: "first" }), ...personas.map(() => make("col", { class: "persona" })), make("col")];
  const heads = personas.map((persona) => make("th", { scope: "col", class: "persona" }, make("bdi", null, ...breaking(persona))));
  const head = make("tr", null, make("th", { scope: "col" }, "Tool"), ...heads, make("th", { scope: "col" }, "Guarded by"));
  const caption = make("caption", { class: "unseen" }, `What each persona sees of ${data.server}`);
  const table = make("table", null, caption, make("colgroup", null, ...columns), make("thead", null, head), ...data.tools.flatMap(toolBody));
  table.style.setProperty("--columns", personas.length);
  matrix.append(table, make("p", { class: "nothing", id: "nothing", hidden: true }, "Nothing here matches."));
}

// ---- Folding, searching, filtering

let waiting = [];

function show(tool) {
  const open = tool.shown && tool.unfolded;
  tool.body.hidden = !tool.shown;
  tool.fold.setAttribute("aria-expanded", String(open));
  if (open) fill(tool);
  for (const body of tool.sides) body.hidden = !open;
}

// The first ones at once, the others as there is time: a large server has more rows than can be laid out in a moment.
function showAll() {
  const heavy = data.tools.filter((tool) => tool.shown && tool.unfolded);
  waiting = heavy.slice(MOST_AT_ONCE);
  const later = new Set(waiting);
  for (const tool of data.tools) if (!later.has(tool)) show(tool);
  for (const tool of waiting) tool.body.hidden = false;
  setTimeout(showMore);
  sayFold();
  settle();
}

function showMore() {
  for (const tool of waiting.splice(0, MOST_AT_ONCE)) show(tool);
  if (waiting.length) setTimeout(showMore);
}

function withOwners(tool, parts) {
  const all = new Set();
  for (let part of parts) for (; part !== tool && !all.has(part); part = part.owner) all.add(part);
  return all;
}

function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let tools = 0, fields = 0;
  for (const tool of data.tools) {
    let parts = differs.checked ? tool.parts.filter((part) => part.differs) : tool.parts;
    let wanted = !differs.checked || tool.differs, inside = false;
    if (words.length) {
      const named = words.every((word) => tool.hay.includes(word));
      const found = parts.filter((part) => words.some((word) => part.hay.includes(word)) &&
        words.every((word) => part.hay.includes(word) || tool.hay.includes(word)));
      inside = found.length > 0;
      if (inside) parts = found;
      wanted &&= named || inside;
      if (wanted) fields += found.length;
    }
    tool.wanted = parts === tool.parts ? null : withOwners(tool, parts);
    tool.shown = wanted;
    tool.unfolded = inside || tool.open;
    if (wanted) tools += 1;
  }
  byId("nothing").hidden = tools > 0;
  const all = !words.length && !differs.checked;
  byId("found").textContent = all ? "" : `${counted(tools, "tool")}${words.length ? `, ${counted(fields, "field")}` : ""} found`;
  showAll();
}

function sayFold() {
  byId("fold").textContent = data.tools.some((tool) => tool.shown && tool.unfolded) ? "Fold all" : "Unfold all";
}

function toggle(tool, open = !tool.unfolded) {
  tool.open = tool.unfolded = open;
  show(tool);
  sayFold();
}

// ---- Keys: the table is one stop of the Tab key, and arrow keys move in it

let current = null;
const buttonsOf = (row) => [...row.querySelectorAll("button:enabled")];
const isShown = (button) => button !== null && button.isConnected && !button.closest("[hidden]");

function settle(button) {
  const next = button ?? (isShown(current) ? current : matrix.querySelector("tbody:not([hidden]) .name"));
  if (current) current.tabIndex = -1;
  current = next;
  if (current) current.tabIndex = 0;
}

function move(event) {
  const button = event.target.closest("button");
  if (!button || event.altKey) return;
  const rows = () => [...matrix.querySelectorAll("tbody:not([hidden]) > tr:not(.group):not([hidden])")];
  const row = button.closest("tr"), inRow = buttonsOf(row), at = inRow.indexOf(button), far = event.ctrlKey || event.metaKey;
  const down = (by) => {
    const all = rows(), to = all[Math.max(0, Math.min(all.length - 1, all.indexOf(row) + by))], there = buttonsOf(to);
    return there.find((each) => each.dataset.column >= Number(button.dataset.column)) ?? there[there.length - 1];
  };
  const to = {
    ArrowLeft: () => inRow[at - 1], ArrowRight: () => inRow[at + 1], ArrowUp: () => down(-1), ArrowDown: () => down(1),
    PageUp: () => down(-10), PageDown: () => down(10),
    Home: () => buttonsOf(far ? rows()[0] : row)[0],
    End: () => buttonsOf(far ? rows().at(-1) : row).at(-1),
  }[event.key];
  if (!to) return;
  event.preventDefault();
  const next = to();
  if (next) focusOn(next);
}

function focusOn(button) {
  button.focus({ preventScroll: true });
  button.scrollIntoView({ block: "nearest", inline: "nearest" });
}
