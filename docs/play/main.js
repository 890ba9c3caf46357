// The page: tasks, editor, report. Work is kept in this browser.
import { autocompletion, closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { Beside } from "./beside.js";
import { Machine, Stopped } from "./process.js";

const KEY = "mini_triton play";
const FILE = "exercises/first/slice.py";
const MARKS = { pass: ["✓", "good"], not_implemented: ["○", "faint"], "": ["○", "faint"] };
const NUMPY_TASKS = ["0.5", "0.6", "0.8"];
const $ = (id) => document.getElementById(id);

const course = await (await fetch("tasks.json")).json(); // the stub, and the tasks as nobody has begun them
const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}");
let tasks = kept.tasks ?? course.tasks;
let current = kept.current ?? Object.keys(tasks)[0];
let isRunning = false;

const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.definitionKeyword], color: "var(--keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--number)" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.className, tags.meta], color: "var(--name)" },
  { tag: tags.comment, color: "var(--faint)", fontStyle: "italic" },
]);
const theme = EditorView.theme({
  "&": { backgroundColor: "var(--paper)", color: "var(--ink)" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--faint)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 8%, transparent)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 30%, transparent) !important",
  },
});
const editor = new EditorView({
  parent: $("editor"),
  state: EditorState.create({
    doc: kept.text ?? course.stub,
    extensions: [
      [lineNumbers(), history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets()],
      [autocompletion(), highlightActiveLine(), highlightSelectionMatches(), python(), indentUnit.of("    ")],
      [syntaxHighlighting(colors), theme, EditorView.contentAttributes.of({ "aria-label": "slice.py", tabindex: "0" })],
      keymap.of([
        { key: "Mod-Enter", run: () => (grade(), true) },
        ...closeBracketsKeymap,
        ...defaultKeymap,
        ...historyKeymap,
        ...searchKeymap,
        indentWithTab,
      ]),
      EditorView.updateListener.of(({ docChanged }) => docChanged && keep()),
    ],
  }),
});
const text = () => editor.state.doc.toString();
const beside = new Beside($("compiler"), await (await fetch("add.json")).json());
const machine = new Machine(kept.progress && Uint8Array.from(atob(kept.progress), (letter) => letter.charCodeAt(0)));

function keep() {
  const bytes = machine.progress ? String.fromCharCode(...machine.progress) : "";
  localStorage.setItem(KEY, JSON.stringify({ text: text(), tasks, current, progress: btoa(bytes) }));
}

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function showTasks() {
  const rows = Object.entries(tasks).map(([id, task]) => {
    const [mark, color] = MARKS[task.last] ?? ["✗", "bad"];
    const button = element(
      "button",
      { type: "button", onclick: () => choose(id) },
      element("span", { className: color, ariaHidden: "true" }, mark),
      element("span", {}, `${id} ${task.title}`),
      element("b", { title: "needs NumPy" }, NUMPY_TASKS.includes(id) ? "N" : ""),
      element("small", {}, task.state || `about ${task.minutes} minutes`),
    );
    if (id === current) button.setAttribute("aria-current", "true");
    return element("li", {}, button);
  });
  $("tasks").querySelector("ol").replaceChildren(...rows);
  const reached = Object.values(tasks).reduce((sum, task) => sum + (task.last === "pass" ? task.points : 0), 0);
  const all = Object.values(tasks).reduce((sum, task) => sum + task.points, 0);
  $("score").textContent = `${reached} of ${all} points`;
  $("grade").textContent = `Grade ${current}`;
}

function choose(id) {
  current = id;
  showTasks();
  keep();
  const stub = text().split("\n").findIndex((line) => line.includes(`Task ${id}:`));
  if (stub >= 0) goTo(stub + 1, false);
  const heading = [...$("chapter").querySelectorAll("h2")].find((each) => each.textContent.startsWith(`${id} `));
  if (heading) $("chapter").scrollTop = heading.offsetTop - $("chapter").offsetTop - 8;
}

function goTo(line, focus = true) {
  const at = editor.state.doc.line(Math.min(line, editor.state.doc.lines)).from;
  editor.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
  if (focus) editor.focus();
}

// The report, word for word; a place in slice.py leads to its line.
function report(words) {
  const parts = words.split(new RegExp(`(${FILE.replaceAll(".", "\\.")}:\\d+)`));
  const shown = parts.map((part, index) => {
    if (index % 2) {
      const line = Number(part.split(":")[1]);
      return element("button", { type: "button", onclick: () => (show("code"), goTo(line)) }, part);
    }
    const marked = part.split(/^(\s*[✓✗○] )/m);
    return element("span", {}, ...marked.map((each) => (/^\s*✓/.test(each) ? colored(each, "good") : /^\s*✗/.test(each) ? colored(each, "bad") : each)));
  });
  $("report").replaceChildren(...shown);
}

const colored = (words, className) => element("span", { className }, words);

function say(words) {
  $("status").textContent = words;
}

function busy(value) {
  isRunning = value;
  $("grade").disabled = $("hint").disabled = $("share").disabled = value;
  $("stop").disabled = !value;
}

// Events of the running tests, and at the end the stages of the learner's compiler.
function hear(line, isStages) {
  if (isStages) return beside.show(JSON.parse(line));
  const { event, test, module } = JSON.parse(line);
  if (event === "running") say(`Running ${test.split("::")[1]}…`);
  if (event === "importing") say(`Importing ${module}…`);
}

async function command(...words) {
  if (isRunning || $("grade").disabled) return;
  busy(true);
  say("Starting…");
  const began = performance.now();
  try {
    const isGrading = words[0] === "grade";
    if (isGrading && words.some((word) => NUMPY_TASKS.includes(word)) && !machine.numpy) {
      say("Loading NumPy from cdn.jsdelivr.net…");
      if (!(await machine.findNumpy())) {
        report(`Task ${current} needs NumPy, which this page could not load from cdn.jsdelivr.net.\nTasks 0.1 to 0.4 and 0.7 do not need it.`);
        return say("NumPy cannot be loaded");
      }
    }
    const answer = await machine.command(words, text(), hear);
    tasks = answer.tasks;
    report(answer.output);
    showTasks();
    keep();
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    say(isGrading ? `Graded ${current} in ${seconds} s: ${tasks[current].state}` : "Ready");
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    report("Stopped.\n");
    say("Stopped");
  } finally {
    busy(false);
  }
}

const grade = () => command("grade", current);

function show(view) {
  document.body.dataset.view = view;
  for (const button of $("views").children) button.setAttribute("aria-pressed", String(button.dataset.view === view));
}

function download() {
  const url = URL.createObjectURL(new Blob([text()], { type: "text/x-python" }));
  element("a", { href: url, download: "slice.py" }).click();
  URL.revokeObjectURL(url);
}

// The link has a letter for each task, and nothing of the text.
async function share() {
  const letters = Object.values(tasks).map((task) => (task.last === "pass" ? "p" : task.last === "" ? "n" : "o"));
  const link = `${location.origin}${location.pathname}#result=${letters.join("")}`;
  try {
    await navigator.clipboard.writeText(link);
    say(`Copied: ${link}`);
  } catch {
    say(link);
  }
}

function showShared() {
  const letters = /^#result=([pno]+)$/.exec(location.hash)?.[1];
  if (!letters) return;
  const passed = Object.keys(tasks).filter((_, index) => letters[index] === "p");
  $("shared").hidden = false;
  $("shared").textContent = `A shared result: ${passed.length} of ${letters.length} tasks pass${passed.length ? ` (${passed.join(", ")})` : ""}. Below is your own work.`;
}

function startOver() {
  if (!confirm("Replace slice.py by the stubs? Your code will be lost.")) return;
  editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: course.stub } });
  choose(current);
}

$("grade").onclick = grade;
$("stop").onclick = () => machine.stop();
$("hint").onclick = () => command("hint", current);
$("download").onclick = download;
$("share").onclick = share;
$("reset").onclick = startOver;
for (const button of $("views").children) button.onclick = () => show(button.dataset.view);
if (matchMedia("(min-width: 60.01rem)").matches) show("chapter");
for (const wide of $("chapter").querySelectorAll("pre, table")) wide.tabIndex = 0; // they scroll
showShared();
showTasks();
choose(current);
const worker = "serviceWorker" in navigator && isSecureContext && navigator.serviceWorker.register("sw.js");
try {
  await machine.boot();
  busy(false);
  say("Ready");
} catch (error) {
  say(`Python could not be loaded: ${error.message}`);
}
if (worker) {
  await worker;
  const { active } = await navigator.serviceWorker.ready;
  navigator.serviceWorker.onmessage = () => (document.body.dataset.offline = "ready");
  active.postMessage("keep");
}
