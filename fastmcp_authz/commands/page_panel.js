// The panel that explains, its addresses, and what starts all of it. Follows page.js in the same script.

let opened = null;

function why(tool, part, persona) {
  const look = tool.looks[persona], answer = (text) => (text in look.answers ? look.answers[text] : null);
  const way = tool.gates.map((text) => ({ of: tool.name, text, answer: answer(text), place: tool.place }));
  const chain = [];
  for (let each = part; each && each !== tool; each = each.owner) chain.unshift(each);
  for (const each of chain) for (const text of each.guards) way.push({ of: each.path, text, answer: answer(text), place: each.place });
  const no = way.filter((step) => step.answer === false), seen = sees(part ?? tool, persona);
  let because;
  if (tool.kind === "undecorated") because = ["it is not decorated: everybody sees all of it"];
  else if (look.because === "unprotected") because = ["it is decorated, and no Authz protects its server: every call is refused"];
  else if (look.because === "output") because = ["nothing of the tool’s output is left, and so the tool is not listed"];
  else if (no.length) because = [...no.flatMap(({ text }, i) => [i ? " and " : "", inCode(text)]), no.length > 1 ? " say no" : " says no"];
  else if (!seen) because = ["nothing of what it could hold is left"];
  else because = [way.length ? "every predicate says yes" : "nothing guards it"];
  return { seen, because, way };
}

const table = (heads, rows, name) =>
  make("table", { "aria-label": name }, make("thead", null, make("tr", null, ...heads.map((each) => make("th", { scope: "col" }, each)))), make("tbody", null, ...rows));

function drawPanel() {
  const { tool, part, persona } = opened;
  const close = make("button", { type: "button", class: "plain", id: "close" }, "Close");
  close.addEventListener("click", () => shut());
  const heading = make("h2", { id: "panel-title", tabindex: -1 }, ...breaking(title(tool, part)));
  const what = part ? `${part.side === "input" ? "Input" : "Output"}, ${part.kind === "member" ? "variant" : part.type}${part.required ? "" : ", optional"}` : "Tool";
  const declared = (part ?? tool).place, about = (part ?? tool).description;
  const rows = personas.map((each) => {
    const { seen, because } = why(tool, part, each);
    const button = make("button", { type: "button", class: "choose", "aria-pressed": String(each === persona) }, make("bdi", null, ...breaking(each)));
    button.addEventListener("click", () => choose(each));
    const shape = seen ? "all" : "none";
    const marked = [make("span", { class: "mark", "data-seen": shape, "aria-hidden": "true" }, sign(shape)), make("span", { class: "unseen" }, seen ? "seen" : "not seen")];
    return make("tr", null, make("th", { scope: "row" }, button), make("td", null, ...marked), make("td", null, ...because));
  });
  panel.replaceChildren(
    make("div", { class: "title" }, heading, close),
    make("p", { class: "quiet" }, what, ...(declared ? [", declared at ", inCode(declared)] : [])),
    about ? make("p", null, about) : "",
    make("h3", null, "Who sees it"),
    table(["Persona", "Seen", "Because"], rows, "Who sees it"),
    ...details(tool, part, persona),
  );
}

function details(tool, part, persona) {
  const { seen, because, way } = why(tool, part, persona), listing = tool.listings[tool.looks[persona].listing];
  const steps = way.map(({ of, text, answer, place }) => {
    const word = answer === null ? "not asked" : answer ? "yes" : "no";
    const where = make("span", { class: "where" }, inCode(of), ...(place ? [", ", inCode(place)] : []));
    const said = make("span", { class: "mark", "data-seen": { yes: "all", no: "some" }[word] ?? "none" }, word);
    return make("tr", null, make("td", null, inCode(text), where), make("td", null, said));
  });
  const found = [
    make("h3", null, "Why ", make("bdi", null, persona), seen ? " sees it" : " does not see it"),
    make("p", { class: "verdict", id: "verdict" }, `${seen ? "Seen by" : "Hidden from"} ${persona}: `, ...because, "."),
  ];
  if (steps.length) found.push(table(["Asked, and declared where", "Answer"], steps, "Predicates on the way"));
  if (!listing) return [...found, make("h3", null, "Schema"), make("p", null, `${persona} is not listed this tool, and so has no schema of it.`)];
  if (listing.description && listing.description !== tool.description) found.push(make("h3", null, "Description for this persona"), make("p", null, listing.description));
  for (const [side, words] of [["input", "Input schema"], ["output", "Output schema"]]) {
    const text = listing[side] === null ? "none" : data.schemas[listing[side]];
    const name = `${words} as ${persona} is listed it`;
    found.push(make("details", { open: true }, make("summary", null, words), make("pre", { tabindex: 0, role: "region", "aria-label": name }, text)));
  }
  return found;
}

function choose(persona) {
  opened.persona = persona;
  const at = panel.scrollTop;
  drawPanel();
  panel.scrollTop = at;
  panel.querySelector('[aria-pressed="true"]').focus({ preventScroll: true });
  address();
}

function open({ tool, part, persona }, opener) {
  const first = personas.find((each) => sees(part ?? tool, each)) ?? personas[0];
  opened?.opener.removeAttribute("aria-current");
  opened = { tool, part, persona: persona ?? first, opener };
  opener.setAttribute("aria-current", "true");
  drawPanel();
  if (!panel.open) stand();
  panel.scrollTop = 0;
  byId("panel-title").focus({ preventScroll: true });
  address();
}

function stand() {
  if (wide.matches) panel.show();
  else panel.showModal();
}

function shut() {
  if (!opened) return;
  const { opener } = opened;
  opened = null;
  opener.removeAttribute("aria-current");
  panel.close();
  history.replaceState(null, "", location.pathname + location.search);
  if (isShown(opener)) focusOn(opener);
  else search.focus();
}

// ---- Addresses: #tool, #tool/path, #tool/output/path where an input has that path too; ?as=persona behind it

function address() {
  const { tool, part, persona } = opened;
  const first = part && tool.parts.find((each) => each.path === part.path);
  const segments = [tool.name, ...(part ? (first.side === part.side ? [part.path] : [part.side, part.path]) : [])];
  history.replaceState(null, "", `#${segments.map(encodeURIComponent).join("/")}?as=${encodeURIComponent(persona)}`);
}

function follow() {
  let segments, persona;
  try {
    const [path, asked] = location.hash.slice(1).split("?as=");
    segments = path.split("/").map(decodeURIComponent);
    persona = asked && decodeURIComponent(asked);
  } catch {
    return;
  }
  const tool = data.tools.find((each) => each.name === segments[0]);
  if (!tool) return;
  const path = segments.at(-1), sided = tool.parts.filter((each) => segments.length < 3 || each.side === segments[1]);
  const part = segments.length < 2 ? null : sided.find((each) => each.path === path) ?? sided.find((each) => each.name === path) ?? null;
  if (!tool.shown) {
    search.value = "";
    differs.checked = false;
    filter();
  }
  if (part) {
    tool.wanted = null;
    toggle(tool, true);
  }
  const opener = (part ?? tool).button;
  settle(opener);
  opener.scrollIntoView({ block: "center" });
  open({ tool, part, persona: personas.includes(persona) ? persona : null }, opener);
}

// ---- Themes

const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
const sayTheme = () => (byId("theme").textContent = isDark() ? "Light theme" : "Dark theme");

// ---- All together

drawTable();
filter();
sayTheme();
byId("counts").textContent = `${counted(data.tools.length, "tool")}, ${counted(personas.length, "persona")}${data.domain === null ? "" : `, domain ${data.domain}`}`;
byId("note").textContent = data.note ?? "";
byId("note").hidden = data.note === null;

let typing = 0;
search.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(filter, 120);
});
addEventListener("beforeprint", () => {
  while (waiting.length) showMore();
});
differs.addEventListener("change", filter);
byId("fold").addEventListener("click", () => {
  const unfold = byId("fold").textContent === "Unfold all";
  for (const tool of data.tools) if (tool.shown) tool.open = tool.unfolded = unfold && tool.parts.length > 0;
  showAll();
});
byId("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  sayTheme();
});
dark.addEventListener("change", sayTheme);
matrix.addEventListener("click", (event) => {
  if (String(getSelection())) return;  // somebody marks a text, to copy it
  const at = event.target, inCell = at.closest("td, th")?.querySelector("button:only-child");
  const button = at.closest("button") ?? inCell ?? at.closest("tbody tr:not(.group)")?.querySelector(".name");
  if (button?.folds) toggle(button.folds);
  else if (button) open(button.opens, button);
});
matrix.addEventListener("focusin", (event) => {
  if (event.target.tagName === "BUTTON") settle(event.target);
});
matrix.addEventListener("keydown", move);
panel.addEventListener("cancel", (event) => {
  event.preventDefault();
  shut();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.defaultPrevented && opened && !(event.target === search && search.value)) {
    event.preventDefault();
    shut();
  }
  if (event.key === "/" && event.target !== search && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    search.focus();
  }
});
wide.addEventListener("change", () => {
  if (!opened || matchMedia("print").matches) return;
  panel.close();
  stand();
});
addEventListener("hashchange", follow);
follow();
