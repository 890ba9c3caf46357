// A process of the page: Python with a learner's copy of the course. A parent answers questions; a child runs one job.
import { loadPyodide } from "./python/pyodide.mjs";

const ROOT = "/course";
const SLICE = `${ROOT}/exercises/first/slice.py`;
const PROGRESS = `${ROOT}/.kata/progress.db`;
let python;

// The page has compiled Pyodide's code once for all workers.
function share(module) {
  const load = self.fetch;
  self.fetch = (url, ...rest) => (String(url).endsWith(".wasm") ? Promise.resolve() : load(url, ...rest));
  WebAssembly.instantiateStreaming = async (_, imports) => ({
    module,
    instance: await WebAssembly.instantiate(module, imports),
  });
}

async function start({ module, archive, role, numpy, progress }) {
  share(module);
  python = await loadPyodide({
    packageBaseUrl: numpy || undefined,
    env: { HOME: "/home", PYTHONHASHSEED: "0", PYTEST_DISABLE_PLUGIN_AUTOLOAD: "1" },
    stdout: () => {},
    stderr: () => {},
  });
  if (numpy) {
    await python.loadPackage("numpy", { messageCallback: () => {}, errorCallback: () => {} });
    if (!python.loadedPackages.numpy) throw new Error("NumPy cannot be loaded"); // Pyodide only prints it
  }
  python.unpackArchive(archive, "zip", { extractDir: ROOT });
  if (progress) {
    python.FS.mkdirTree(`${ROOT}/.kata`);
    python.FS.writeFile(PROGRESS, progress);
  }
  python.globals.set("within", (seconds) => postMessage({ within: seconds }));
  python.globals.set("say", (line) => postMessage({ line }));
  python.runPython(`
import json, os, sys
sys.path[:0] = ["${ROOT}", "${ROOT}/.site"]
sys.path.append("${ROOT}/.absent")
sys.dont_write_bytecode = True
os.chdir("${ROOT}")
from grader.page import absent
absent.name_python()
if ${role === "child" ? "True" : "False"}:
    from grader.page import child
    child.prepare()
else:
    from grader.page import parent
`);
}

// The grader's command line, up to the next process that it needs.
function answer({ question, text }) {
  python.FS.writeFile(SLICE, text);
  python.globals.set("question", JSON.stringify(question));
  const found = JSON.parse(python.runPython("parent.answer(question)"));
  const kept = python.FS.analyzePath(PROGRESS).exists ? python.FS.readFile(PROGRESS) : null;
  return { answer: found, progress: kept };
}

// The process that the command line needs.
function run({ process, text }) {
  python.FS.writeFile(SLICE, text);
  python.globals.set("wanted", JSON.stringify(process));
  const code = python.runPython("child.run(json.loads(wanted), say, within)");
  return { code, stages: process.kind === "job" ? python.runPython("child.shown()") : "" };
}

onmessage = async ({ data }) => {
  try {
    if (data.start) postMessage({ done: (await start(data.start)) ?? {} });
    else postMessage({ done: data.process ? run(data) : answer(data) });
  } catch (error) {
    postMessage({ failed: String(error.message ?? error) });
  }
};
