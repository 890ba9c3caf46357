"use strict";

// Columns are *panes*; a pane has *rows*; a row knows the source lines that it comes `from`, by their number in the
// source column. Choosing a line chooses source lines, and every row that comes from one of them is lit.

const data = JSON.parse(document.getElementById("data").textContent);
const $ = (selector, root = document) => root.querySelector(selector);
const narrow = matchMedia("(max-width: 720px)");
const panes = [];
let chosen = new Set();

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

// --- panes

function addPane(name, title, about, { reason = "", rows = [], controls = null, body = null, costs = null }) {
  const pane = { name, title, rows, costs, cursor: -1, runs: [], filled: false, isDrawing: Boolean(body || reason) };
  pane.list = body ?? make("div", { class: "lines", role: "listbox", "aria-label": title, "aria-multiselectable": "true", tabindex: "0" });
  pane.ruler = make("div", { class: "ruler", "aria-hidden": "true" });
  pane.element = make("section", { class: "pane", "data-pane": name, "aria-label": title, hidden: true },
    make("header", {}, make("h2", {}, title), make("p", {}, about), ...(controls ? [controls] : [])));
  if (reason) pane.element.append(make("p", { class: "reason", tabindex: "0" }, reason));
  else pane.element.append(pane.list, pane.ruler);
  pane.badge = make("span", { class: "badge" });
  pane.tab = make("button", { "aria-pressed": "false", "data-pane": name, class: reason ? "missing" : "", onclick: () => toggle(pane) }, title, pane.badge);
  if (!body && !reason) {
    pane.list.addEventListener("click", (event) => {
      const line = event.target.closest(".line");
      if (line) choose(pane, Number(line.dataset.row));
    });
    pane.list.addEventListener("keydown", (event) => moveCursor(pane, event));
  }
  $("main").append(pane.element);
  $("nav").append(pane.tab);
  panes.push(pane);
  return pane;
}

const rowsOf = (column) => column.html.map((html, index) => ({ html, number: index + 1, from: column.from[index] }));

const related = new Set([...data.columns, data.passes].flatMap((column) => column.from.flat())); // source lines

const hue = (number) => Math.round(number * 137.5) % 360;

function fill(pane) {
  if (pane.filled || pane.isDrawing) return;
  pane.filled = true;
  pane.list.replaceChildren(...pane.rows.map((row, index) => {
    const line = make("div", {
      class: `line ${row.kind ?? ""}`, role: "option", id: `${pane.name}-${index}`, "data-row": index, "aria-selected": "false",
      style: row.from.some((number) => related.has(number)) && `--hue:${hue(row.from[0])}`,
    });
    const [costs = [], kinds = "", findings = "", isBad = false] = pane.costs?.[index] ?? [];
    line.innerHTML = `${costs.map((cost) => `<span class="cost">${cost}</span>`).join("")}<span class="number">${row.number || ""}</span><span class="text" style="--indent:${row.html.search(/[^ ]|$/)}">${row.html || " "}</span>`;
    if (kinds) line.append(make("span", { class: isBad ? "found bad" : "found", title: findings }, kinds));
    row.line = line;
    return line;
  }));
  light(pane);
}

function toggle(pane, show = narrow.matches || pane.element.hidden) {
  for (const other of panes) {
    if (other === pane) other.element.hidden = !show;
    else if (narrow.matches && show) other.element.hidden = true;
    other.tab.setAttribute("aria-pressed", String(!other.element.hidden));
  }
  if (!show) return;
  if (pane.filled) light(pane);
  else fill(pane);
  reveal(pane);
  pane.show?.();
  if (narrow.matches) pane.tab.scrollIntoView({ inline: "center", block: "nearest" });
}

function showAtFirst() {
  const emulated = data.columns.some((column) => column.costs) && ["source", "ptx"];
  const wanted = narrow.matches || data.error ? ["source"] : emulated || ["source", "passes", innerWidth < 1600 ? "numpy" : "ptx"];
  wrap(narrow.matches);
  for (const pane of panes) pane.element.hidden = true;
  for (const pane of panes) if (wanted.includes(pane.name)) toggle(pane, true);
}

// --- lines that belong together

const isLit = (row) => row.from.some((number) => chosen.has(number));

function light(pane) {
  const lit = pane.rows.map(isLit);
  const count = pane.rows.filter((row) => isLit(row) && row.kind !== "removed").length;
  pane.badge.textContent = count || "";
  pane.tab.setAttribute("aria-label", count ? `${pane.title}, ${counted(count, "line")} lit` : pane.title);
  if (!pane.filled || pane.element.hidden) return;
  pane.rows.forEach((row, index) => row.line.setAttribute("aria-selected", String(lit[index])));
  const all = Math.max(pane.list.scrollHeight, pane.list.clientHeight) / 100;
  pane.runs = runsOf(pane, lit);
  pane.ruler.replaceChildren(...pane.runs.map(({ top, bottom }) =>
    make("i", { style: `top:${top / all}%;height:${(bottom - top) / all}%` })));
  pane.ruler.style.top = `${pane.list.offsetTop}px`;
  pane.ruler.style.height = `${pane.list.clientHeight}px`;
}

const isShown = (row) => row.line.offsetParent !== null;
const position = (pane, row) => row.line.offsetTop - pane.list.offsetTop;

const isComment = (row) => /^ *<i class=c>[^<]*<\/i>$/.test(row.html);

// Lit rows without a gap: the first row, the number of rows with code that a pass did not remove, and where they are.
function runsOf(pane, lit) {
  const runs = [];
  let run = null;
  pane.rows.forEach((row, index) => {
    if (!isShown(row)) return;
    if (!lit[index]) return void (run = null);
    if (!run) runs.push(run = { first: index, size: 0, top: position(pane, row) });
    run.size += row.kind !== "removed" && !isComment(row);
    run.bottom = position(pane, row) + row.line.offsetHeight;
  });
  return runs;
}

// The largest run; the first one of several.
const largest = (pane) => pane.runs.reduce((best, run) => (best && best.size >= run.size ? best : run), null);

// Scroll to the largest run: to its middle, or to its first row if it is taller than the column.
function reveal(pane) {
  if (!pane.filled || pane.element.hidden) return;
  const run = largest(pane), { scrollTop, clientHeight } = pane.list;
  if (run && (run.top < scrollTop || run.bottom > scrollTop + clientHeight))
    pane.list.scrollTop = run.top - Math.max(0, (clientHeight - run.bottom + run.top) / 2);
}

function choose(pane, index) {
  setCursor(pane, index);
  chooseSource(pane.rows[index]?.from ?? [], pane);
}

function chooseSource(numbers, origin = null) {
  chosen = new Set(numbers);
  for (const pane of panes) {
    light(pane);
    if (pane !== origin) reveal(pane);
  }
  memory?.follow(origin);
  const status = $("footer");
  status.replaceChildren();
  if (!chosen.size) return void status.append("This line does not come from a line of the source.");
  const rows = [...chosen].map((number) => panes[0].rows[number]);
  const counts = panes.slice(1).filter((pane) => pane.badge.textContent).map((pane) => `${pane.title} ${pane.badge.textContent}`);
  const code = make("code");
  code.textContent = `${rows[0].number}  ${rows[0].text.trim()}`;
  status.append(code, rows.length > 1 ? ` and ${rows.length - 1} more` : "", `   ${counts.join(" · ")}`);
}

function setCursor(pane, index) {
  pane.rows[pane.cursor]?.line?.classList.remove("cursor");
  pane.cursor = Math.max(0, Math.min(index, pane.rows.length - 1));
  const line = pane.rows[pane.cursor]?.line;
  if (!line) return;
  line.classList.add("cursor");
  line.scrollIntoView({ block: "nearest", inline: "nearest" });
  pane.list.scrollLeft = 0;
  pane.list.setAttribute("aria-activedescendant", line.id);
}

// --- keys

function moveCursor(pane, event) {
  const page = Math.max(1, Math.floor(pane.list.clientHeight / 20) - 1);
  const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity };
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in steps) {
    const step = steps[event.key];
    let index = step === -Infinity ? 0 : step === Infinity ? pane.rows.length - 1 : pane.cursor + step;
    while (pane.rows[index] && !isShown(pane.rows[index])) index += Math.sign(step); // a hidden row
    if (pane.rows[index] || Math.abs(step) > 1) choose(pane, index);
    event.preventDefault();
  } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    const shown = panes.filter((other) => !other.element.hidden && other.filled);
    const next = shown[shown.indexOf(pane) + (event.key === "ArrowLeft" ? -1 : 1)];
    if (next) {
      next.list.focus();
      const run = largest(next);
      if (run) setCursor(next, run.first);
    }
    event.preventDefault();
  }
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("dialog").open || /^(INPUT|SELECT)$/.test(event.target.tagName)) return;
  const number = "1234567890".indexOf(event.key);
  if (event.key === "n" || event.key === "p") passes?.go(event.key === "n" ? 1 : -1);
  else if (event.key === "d") passes?.compare();
  else if (event.key === "m") toggle(panes.at(-1));
  else if (event.key === "t") changeTheme();
  else if (event.key === "w") wrap();
  else if (event.key === "?") $("dialog").showModal();
  else if (event.key === "Escape") chooseSource([]);
  else if (number >= 0 && panes[number]) toggle(panes[number]);
  else return;
  event.preventDefault();
});

const system = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.style.colorScheme || (system.matches ? "dark" : "light")) === "dark";

function changeTheme() {
  document.documentElement.style.colorScheme = isDark() ? "light" : "dark";
  memory?.draw();
}

system.addEventListener("change", () => memory?.draw());

function wrap(on = !document.body.classList.contains("wrapped")) {
  document.body.classList.toggle("wrapped", on);
  $("#wrap").setAttribute("aria-pressed", String(on));
  for (const pane of panes) {
    light(pane);
    reveal(pane);
  }
}

// --- passes

let passes = null;

function addPasses({ steps, about, reason, html, from }) {
  const select = make("select", { "aria-label": "pass", onchange: () => show(select.selectedIndex) },
    ...steps.map((step, index) => make("option", {}, index ? `${index}. ${step.name}` : "after the front end")));
  const before = make("button", { title: "the previous pass (p)", "aria-label": "previous pass", onclick: () => passes.go(-1) }, "‹");
  const after = make("button", { title: "the next pass (n)", "aria-label": "next pass", onclick: () => passes.go(1) }, "›");
  const box = make("input", { type: "checkbox", onchange: () => passes.compare(box.checked) });
  const note = make("p", { class: "note", role: "status" });
  const controls = make("div", { class: "controls" }, before, select, after, make("label", { title: "(d)" }, box, "removed lines"), note);
  const pane = addPane("passes", "Passes", about, { reason, controls: steps.length ? controls : null });
  if (reason || !steps.length) return;

  function show(index) {
    select.selectedIndex = index;
    before.disabled = index === 0;
    after.disabled = index === steps.length - 1;
    const { rows, idle } = steps[index];
    let number = 0;
    pane.rows = rows.map(([mark, line]) => ({
      html: html[line], from: from[line],
      number: mark === "-" ? 0 : ++number, kind: { "-": "removed", "+": "added" }[mark],
    }));
    pane.filled = false;
    pane.cursor = -1;
    if (!pane.element.hidden) fill(pane);
    light(pane);
    const changed = pane.rows.find((row) => row.kind && row.line);
    if (changed && !chosen.size) pane.list.scrollTop = position(pane, changed) - 60;
    else reveal(pane);
    const count = (kind) => pane.rows.filter((row) => row.kind === kind).length;
    const missing = idle.filter((pass) => pass.missing).map((pass) => `${pass.name} is not written yet (${pass.missing})`);
    const quiet = [...new Set(idle.filter((pass) => !pass.missing).map((pass) => pass.name))];
    note.textContent = [
      index ? `−${count("removed")} +${count("added")} lines, ${counted(number, "line")} now` : counted(number, "line"),
      ...(quiet.length ? [`then nothing to do for ${quiet.join(", ")}`] : []), ...new Set(missing),
    ].join("; ");
  }

  passes = {
    go(by) {
      if (pane.element.hidden) toggle(pane, true);
      const index = select.selectedIndex + by;
      if (steps[index]) show(index);
    },
    compare(on = pane.list.classList.contains("after-only")) {
      pane.list.classList.toggle("after-only", !on);
      box.checked = on;
      light(pane);
    },
  };
  show(steps.length - 1);
  passes.compare(true);
}

// --- memory

let memory = null;

function addMemory({ reason = "", accesses = [] }) {
  if (!reason && !accesses.length) reason = "The programs that were run do not access memory.";
  const body = make("div", { class: "memory", tabindex: "0" });
  const pane = addPane("memory", "Memory", "which program and thread accesses which element", { reason, body });
  if (reason) return;
  pane.rows = accesses.map((access) => ({ from: access.from }));
  for (const one of accesses) one.programs = [...new Set(one.touches.map(([ids]) => ids.join(", ")))];
  let access = accesses[0], program = 0, round = 0;

  const sourceLine = (one) => panes[0].rows[one.from[0]]?.number ?? "?";
  const select = make("select", { "aria-label": "access", onchange: () => pick(accesses[select.selectedIndex]) },
    ...accesses.map((one) => make("option", {}, `${one.kind} ${one.argument}, line ${sourceLine(one)}${one.outside ? " (out of bounds)" : ""}`)));
  const programRange = make("input", { type: "range", min: 0, "aria-label": "program", oninput: () => { program = +programRange.value; draw(); } });
  const roundRange = make("input", { type: "range", min: 0, "aria-label": "round of the loop", oninput: () => { round = +roundRange.value; draw(); } });
  const programLabel = make("span"), roundLabel = make("span");
  const facts = make("ul"), said = make("output", { "aria-live": "off" });
  const map = make("canvas", { role: "img" }), tile = make("canvas", { role: "img" });
  const mapTitle = make("h3"), tileTitle = make("h3");
  body.append(make("div", { class: "controls" }, select),
    make("div", { class: "controls" }, make("label", {}, programRange, programLabel), make("label", {}, roundRange, roundLabel)),
    facts, mapTitle, map, tileTitle, tile, said);

  function pick(one) {
    access = one;
    unpack(one);
    select.selectedIndex = accesses.indexOf(one);
    program = round = 0;
    programRange.max = one.programs.length - 1;
    programRange.value = roundRange.value = 0;
    draw();
    if (one.from.length && !one.from.some((number) => chosen.has(number))) chooseSource(one.from, pane);
  }

  const rounds = () => access.touches.filter((touch) => touch.program === access.programs[program]);
  const now = () => rounds()[Math.min(round, rounds().length - 1)];

  function draw() {
    if (pane.element.hidden) return;
    roundRange.max = rounds().length - 1;
    roundRange.parentElement.hidden = rounds().length < 2;
    roundRange.parentElement.style.display = rounds().length < 2 ? "none" : "";
    const touch = now();
    programLabel.textContent = `program (${access.programs[program]})`;
    roundLabel.textContent = touch ? `round ${touch.round}` : "";
    facts.replaceChildren(...describe(access).map(([word, text, kind]) => make("li", {}, make("b", { class: kind }, word), text)));
    mapTitle.textContent = `${access.argument}, ${access.shape.join(" × ")}: which programs touch which element`;
    tileTitle.textContent = access.tile.length
      ? `the tile of program (${access.programs[program] ?? ""}), ${access.tile.join(" × ")}: ${access.threads ? "by warp and thread" : "by lane"}`
      : "a scalar: one element";
    map.setAttribute("aria-label", mapTitle.textContent);
    tile.setAttribute("aria-label", tileTitle.textContent);
    drawMap(map, access, access.programs[program], touch);
    drawTile(tile, access, touch);
  }

  map.addEventListener("pointermove", (event) => { said.textContent = map.at?.(event) ?? ""; });
  tile.addEventListener("pointermove", (event) => { said.textContent = tile.at?.(event) ?? ""; });
  new ResizeObserver(draw).observe(body);
  pane.show = draw;
  memory = {
    draw,
    follow(origin) {
      const one = accesses.find((candidate) => candidate.from.some((number) => chosen.has(number)));
      if (origin !== pane && one && !access.from.some((number) => chosen.has(number))) pick(one);
    },
  };
  pick(access);
  chooseSource([]);
}

// Offsets of all lanes of each touch, and which lanes are active, once somebody looks at the access.
function unpack(access) {
  if (access.indices) return;
  const lanes = access.tile.reduce((product, size) => product * size, 1);
  const index = (lane) => {
    const result = [];
    for (const size of [...access.tile].reverse()) {
      result.unshift(lane % size);
      lane = Math.floor(lane / size);
    }
    return result;
  };
  const indices = Array.from({ length: lanes }, (_, lane) => index(lane));
  access.indices = indices;
  access.touches = access.touches.map(([program, round, offsets, active]) => ({
    program: program.join(", "), round,
    offsets: Array.isArray(offsets) ? offsets
      : indices.map((at) => at.reduce((sum, i, axis) => sum + i * offsets.strides[axis], offsets.first)),
    active: typeof active === "string" ? [...active].map((flag) => flag === "1")
      : indices.map((at) => at.every((i, axis) => i >= active[axis][0] && i < active[axis][1])),
  }));
}

// The index of an element by its offset from the argument's first; null if it is out of bounds.
function element(access, offset) {
  if (offset + access.origin < 0 || offset + access.origin >= access.size) return null;
  const order = access.shape.map((_, axis) => axis).sort((a, b) => access.strides[b] - access.strides[a]);
  const index = access.shape.map(() => 0);
  for (const axis of order) {
    const stride = access.strides[axis];
    if (stride <= 0) continue;
    index[axis] = Math.floor(offset / stride);
    if (index[axis] >= access.shape[axis]) return access.shape[axis] === 1 ? index.fill(0) : null;
    offset -= index[axis] * stride;
  }
  return offset === 0 ? index : null;
}

// Facts about an access: a word, what it is about, and whether it is good or bad.
function describe(access) {
  const facts = [];
  if (access.outside) {
    const isOutside = (touch) => (offset, lane) => touch.active[lane] && !element(access, offset);
    const bad = access.touches.find((touch) => touch.offsets.some(isOutside(touch)));
    const where = bad ? `, first ${access.argument}[${bad.offsets.find(isOutside(bad))}] by program (${bad.program})` : "";
    facts.push(["out of bounds", `: ${counted(access.outside, "lane")}${where}`, "bad"]);
  }
  if (access.traffic) {
    const [instructions, sectors, fewest] = access.traffic;
    const used = Math.round(100 * fewest / sectors);
    const text = `: ${counted(instructions, "warp instruction")} of program (${access.fullest}), ${counted(sectors, "sector")} of 32 bytes; `
      + `${fewest} would suffice (${used}%)`;
    facts.push(used >= 75 ? ["coalesced", text, "good"] : ["not coalesced", text, "bad"]);
  }
  if (access.tile.length) facts.push([counted(access.bytes, "byte"), ` per thread and instruction${access.why && `: ${access.why}`}`, ""]);
  const count = data.grid.reduce((product, size) => product * size, 1);
  if (access.programs.length < count) facts.push(["a sample", `: ${access.programs.length} of ${counted(count, "program")}`, ""]);
  const seen = Math.max(...access.touches.map((touch) => touch.round)) + 1;
  if (seen < access.rounds) facts.push(["a sample", `: ${seen} of ${access.rounds} rounds of the loop`, ""]);
  return facts;
}

function color(name) {
  const probe = make("i", { style: `color:var(--${name})` });
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

const tint = (number) => [205, 40, 150, 270, 95, 180, 300, 65][number % 8]; // hues, none of them red

function prepare(canvas, height) {
  const width = canvas.clientWidth, scale = devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.fillStyle = color("paper");
  context.fillRect(0, 0, width, height);
  return { context, width };
}

// The argument's elements, with the last axis across; one with a single axis goes on below. Elements out of bounds are
// drawn in red, above or below the others.
function drawMap(canvas, access, program, touch) {
  const size = access.shape.reduce((product, n) => product * n, 1);
  const columns = access.shape.length > 1 ? access.shape.at(-1) : Math.min(size, 128);
  const own = Math.ceil(size / Math.max(1, columns)), margin = Math.max(2, Math.ceil(own / 12));
  const goes = (isBeyond) => access.outside && access.touches.some((one) => one.offsets.some((n, lane) => one.active[lane] && isBeyond(n)));
  const above = goes((offset) => offset < 0) ? margin : 0;
  const rows = above + own + (goes((offset) => offset >= size) ? margin : 0);
  const spot = (offset) => {
    const index = element(access, offset);
    const flat = index ? index.reduce((sum, i, axis) => sum * access.shape[axis] + i, 0) : offset;
    const row = Math.max(0, Math.min(rows - 1, Math.floor(flat / columns) + above));
    return [row, ((flat % columns) + columns) % columns, !index];
  };
  const across = Math.min(10, canvas.clientWidth / columns);
  const height = Math.min(Math.max(across, 6), 240 / rows);
  const { context } = prepare(canvas, rows * height);
  const touching = new Map(); // the programs that touch a cell
  const red = color("red"), dark = isDark(), gap = Math.min(across, height) > 4 ? 1 : 0;
  context.fillStyle = color("edge");
  context.fillRect(0, above * height, columns * across, own * height);
  const paint = (one, strength) => { // 0: another program, 1: another round, 2: what is drawn below
    const colors = dark ? ["25% 32%", "40% 48%", "70% 65%"] : ["40% 84%", "45% 68%", "65% 45%"];
    const fine = `hsl(${tint(access.programs.indexOf(one.program))} ${colors[strength]})`;
    one.offsets.forEach((offset, lane) => {
      if (!one.active[lane]) return;
      const [row, column, outside] = spot(offset), cell = row * columns + column;
      if (!touching.has(cell)) touching.set(cell, new Set());
      touching.get(cell).add(one.program);
      context.fillStyle = outside ? red : fine;
      context.fillRect(column * across, row * height, across + (gap ? -1 : .5), height + (gap ? -1 : .5));
    });
  };
  for (const one of access.touches) if (one.program !== program) paint(one, 0);
  for (const one of access.touches) if (one.program === program && one !== touch) paint(one, 1);
  if (touch) paint(touch, 2);
  canvas.at = (event) => {
    const column = Math.floor(event.offsetX / across), row = Math.floor(event.offsetY / height);
    if (column >= columns) return "";
    const by = [...(touching.get(row * columns + column) ?? [])];
    const flat = (row - above) * columns + column;
    const inside = flat >= 0 && flat < size;
    const name = inside ? `${access.argument}[${indexOf(flat, access.shape)}]` : `${access.argument}, out of bounds`;
    return `${name}: ${by.length ? `program${by.length > 1 ? "s" : ""} ${by.map((one) => `(${one})`).join(" ")}` : "no program that is drawn"}`;
  };
}

function indexOf(flat, shape) {
  const index = [];
  for (const size of [...shape].reverse()) {
    index.unshift(flat % size);
    flat = Math.floor(flat / size);
  }
  return index.join(", ");
}

// The lanes of a tile: a color for each warp, a shade for each thread; red out of bounds, empty where masked off.
function drawTile(canvas, access, touch) {
  canvas.hidden = !access.tile.length || !touch;
  if (canvas.hidden) return;
  const lanes = touch.offsets.length;
  const columns = access.tile.length > 1 ? access.tile.at(-1) : Math.min(lanes, 64);
  const rows = Math.ceil(lanes / columns);
  const cell = Math.min(16, canvas.clientWidth / columns);
  const { context } = prepare(canvas, Math.min(rows * cell, 520));
  const height = Math.min(cell, 520 / rows);
  const red = color("red"), edge = color("edge");
  for (let lane = 0; lane < lanes; lane++) {
    const thread = access.threads?.[lane] ?? lane % 32;
    const outside = touch.active[lane] && !element(access, touch.offsets[lane]);
    context.fillStyle = !touch.active[lane] ? edge : outside ? red
      : `hsl(${tint(Math.floor(thread / 32))} 50% ${38 + 40 * (thread % 32) / 32}%)`;
    const gap = cell > 5 ? 1 : 0, inset = touch.active[lane] ? 0 : cell / 3;
    context.fillRect((lane % columns) * cell + inset, Math.floor(lane / columns) * height + inset,
      Math.max(cell - gap - 2 * inset, .5), Math.max(height - gap - 2 * inset, .5));
  }
  canvas.at = (event) => {
    const column = Math.floor(event.offsetX / cell), lane = Math.floor(event.offsetY / height) * columns + column;
    if (column >= columns || !access.indices[lane]) return "";
    const index = element(access, touch.offsets[lane]);
    const thread = access.threads?.[lane];
    return [
      `lane [${access.indices[lane].join(", ")}]`,
      thread === undefined ? "" : `thread ${thread} (warp ${Math.floor(thread / 32)})`,
      !touch.active[lane] ? "masked off" : index ? `${access.argument}[${index.join(", ")}]` : `${access.argument}[${touch.offsets[lane]}], out of bounds`,
    ].filter(Boolean).join(" · ");
  };
}

// --- the page

$("h1").textContent = data.kernel;
$(".signature").append(...data.signature.flatMap(({ name, type, value }) => [
  make("b", {}, name), value ? ` = ${value} · ` : `: ${type}${data.divisible.includes(name) ? ":16" : ""} · `]),
  `${data.grid ? `grid (${data.grid.join(", ")}) · ` : ""}${counted(data.warps, "warp")} · ${data.target}`);
$(".signature").title = $(".signature").textContent;
$("#error").append(data.error);
$("#wrap").addEventListener("click", () => wrap());
$("#theme").addEventListener("click", changeTheme);
$("#help").addEventListener("click", () => $("dialog").showModal());

addPane("source", "Source", "the kernel, as its author wrote it", {
  rows: data.source.html.map((html, index) => ({
    html, number: data.source.numbers[index], from: data.source.numbers[index] ? [index] : [],
    kind: data.source.numbers[index] ? "" : "title",
    get text() { return Object.assign(make("i"), { innerHTML: html }).textContent; },
  })),
});
for (const column of data.columns) {
  const titles = { warps: "executions", sectors: "sectors moved / fewest possible", banks: "cycles of the banks for an access" };
  const legend = column.costs && make("div", { class: "costs" },
    ...Object.entries(titles).map(([word, title]) => make("span", { class: "cost", title }, word)));
  addPane(column.name, column.title, column.about, { reason: column.reason, rows: rowsOf(column), controls: legend, costs: column.costs });
  if (column.name === "ttir") addPasses(data.passes);
}
addMemory(data.memory);
narrow.addEventListener("change", showAtFirst);
addEventListener("resize", () => panes.forEach(light));
showAtFirst();
$("footer").textContent = "Click a line, or move to it with the arrow keys. Every column then lights the related lines.";
