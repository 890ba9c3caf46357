// The page's operating system: it starts workers in place of processes, and ends those that take too long.

export const NUMPY = "https://cdn.jsdelivr.net/pyodide/v314.0.7/full/";
const GRACE = 2; // seconds after which code that ignores its time limit ends with its worker
const LONGEST = 120; // seconds for a step without a limit of its own

export class Stopped extends Error {}

// One worker: it answers one message after the other.
class Process {
  constructor(start) {
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.ready = this.ask({ start });
    this.ready.catch(() => {}); // whoever waits for the process hears of it
  }

  // Send a message. `hear` gets what the worker says before it is done.
  ask(message, hear = () => {}) {
    return new Promise((resolve, reject) => {
      this.stop = () => {
        this.worker.terminate();
        reject(new Stopped());
      };
      this.worker.onerror = (event) => reject(new Error(event.message || "the worker could not be started"));
      this.worker.onmessage = ({ data }) => {
        if (data.done) resolve(data.done);
        else if (data.failed !== undefined) reject(new Error(data.failed));
        else hear(data);
      };
      this.worker.postMessage(message);
    });
  }
}

export class Machine {
  constructor(progress) {
    this.progress = progress; // the learner's progress, a small database
    this.numpy = ""; // where NumPy comes from, once a task needs it
  }

  // Load Python, and start the two processes of the first report.
  async boot() {
    const [module, archive] = await Promise.all([
      fetch("python/pyodide.asm.wasm.gz").then(unpacked).then(WebAssembly.compileStreaming),
      fetch("course.zip").then((response) => response.arrayBuffer()),
    ]);
    this.files = { module, archive };
    this.parent = new Process({ ...this.files, role: "parent", progress: this.progress });
    this.spare = this.child();
    await Promise.all([this.parent.ready, this.spare.ready]);
  }

  // A child process that has loaded its libraries before there is a job for it.
  child() {
    return new Process({ ...this.files, role: "child", numpy: this.numpy });
  }

  // Whether tasks with arrays can be graded. NumPy for Pyodide exists only in Pyodide's own distribution.
  async findNumpy() {
    if (this.numpy) return true;
    this.numpy = NUMPY;
    const child = this.child();
    try {
      await child.ready;
    } catch {
      child.worker.terminate();
      this.numpy = "";
      return false;
    }
    this.spare.worker.terminate();
    this.spare = child;
    return true;
  }

  // Run a command of the grader on the learner's text. `hear` gets the tests' events and the compiler's stages.
  async command(words, text, hear) {
    const records = [];
    this.stopped = false;
    for (;;) {
      const question = { arguments: words, records };
      const { answer, progress } = await this.parent.ask({ question, text });
      if (this.stopped) throw new Stopped();
      if (!answer.process) {
        this.progress = progress;
        return answer;
      }
      records.push(await this.run(answer.process, text, hear));
    }
  }

  // Run a process to its end. Returns what it leaves behind.
  async run(process, text, hear) {
    const child = this.spare;
    const record = { lines: [], code: 0, killed: false };
    let timer;
    const limit = (seconds) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        record.killed = true;
        child.stop();
      }, seconds * 1000);
    };
    this.running = child;
    limit(LONGEST);
    try {
      await child.ready;
      const { code, stages } = await child.ask({ process, text }, (said) => {
        if ("within" in said) return limit(said.within ? said.within + GRACE : LONGEST);
        record.lines.push(said.line);
        hear(said.line);
      });
      record.code = code;
      if (stages) hear(stages, true);
    } catch (error) {
      if (this.stopped) throw new Stopped();
      record.code = record.killed ? -9 : 1;
    } finally {
      clearTimeout(timer);
      this.running = null;
      child.worker.terminate();
      this.spare = this.child();
    }
    return record;
  }

  // End the running command.
  stop() {
    this.stopped = true;
    this.running?.stop();
  }
}

function unpacked(response) {
  if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
  const stream = response.body.pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream, { headers: { "Content-Type": "application/wasm" } });
}
