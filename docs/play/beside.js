// The panel beside the editor: a line of the kernel, its operations, the lanes that move through memory, and the PTX.

const PROGRAMS = [0, 1, 2];

export class Beside {
  constructor(place, recorded) {
    this.place = place;
    this.recorded = recorded;
    this.line = 0;
    this.show({ lines: [], open: "Grade a task, and this panel shows how far your compiler gets." });
  }

  show(stages) {
    this.stages = stages;
    this.draw();
  }

  draw() {
    const { lines, open } = this.stages;
    const parts = [make("h2", "Your compiler and the kernel add")];
    if (lines.length) {
      this.line = Math.min(this.line, lines.length - 1);
      const buttons = lines.map(({ number, source }, index) => {
        const button = make("button", `${number}  ${source}`);
        button.type = "button";
        button.setAttribute("aria-pressed", String(index === this.line));
        button.onclick = () => {
          this.line = index;
          this.draw();
          this.place.querySelector("[aria-pressed=true]").focus();
        };
        return button;
      });
      const list = make("div", ...buttons);
      list.className = "lines";
      parts.push(list, ...this.operations(lines[this.line]));
    }
    if (open) parts.push(make("p", open));
    this.place.replaceChildren(...parts);
  }

  operations({ number, ops }) {
    if (!ops.length) return [];
    const parts = [make("h3", "TTIR"), make("pre", ops.map((op) => op.text).join("\n"))];
    const lanes = ops.filter((op) => op.values[0].length > 1);
    if (lanes.length) parts.push(make("h3", "Lanes: 3 programs of 4, n = 10"), this.lanes(lanes));
    for (const op of ops.filter((op) => /tt\.(load|store)/.test(op.name))) parts.push(...this.memory(op, ops));
    return [...parts, ...this.ptx(number)];
  }

  // The value of each operation in every lane.
  lanes(ops) {
    const head = make("tr", make("td", ""), ...PROGRAMS.map((program) => span(make("th", `program ${program}`), 4)));
    const rows = ops.map((op) => {
      const cells = op.values.flatMap((row, program) => row.map((value) => cell(value, program)));
      return make("tr", make("th", op.name), ...cells);
    });
    return make("table", head, ...rows);
  }

  // The memory that a load or a store accesses: each element has the color of its program.
  memory(op, ops) {
    const all = this.stages.lines.flatMap((line) => line.ops);
    const pointers = op.name === "tt.store" ? op.values : this.pointers(op, all);
    const name = pointers.flat().find(Boolean)?.[0];
    if (!name) return [];
    const users = new Map();
    pointers.forEach((row, program) => row.forEach((pointer) => pointer && users.set(pointer[1], program)));
    const cells = this.stages.memory[name].map((value, at) => {
      const made = make("td", value ?? "·");
      made.className = users.has(at) ? `p${users.get(at)} moving` : "off";
      made.style.animationDelay = `${(users.get(at) ?? 0) * 250}ms`;
      return made;
    });
    const numbers = cells.map((_, at) => make("th", at));
    const action = op.name === "tt.store" ? `Memory after the store to ${name}` : `Memory that the load of ${name} reads`;
    return [make("h3", action), make("table", make("tr", ...numbers), make("tr", ...cells))];
  }

  // The addresses of a load: the last operation before it that computes addresses; masked-off lanes access nothing.
  pointers(load, all) {
    const before = all.slice(0, all.indexOf(load)).reverse();
    const addresses = before.find((op) => op.name === "tt.addptr");
    const mask = before.find((op) => op.name === "arith.cmpi");
    return addresses ? addresses.values.map((row, p) => row.map((pointer, lane) => (mask?.values[p][lane] === false ? null : pointer))) : [];
  }

  // What real Triton compiled the accepted text to.
  ptx(number) {
    const { text, multiples } = this.stages;
    if (!text) return [];
    const { triton, text: accepted, wide, narrow } = this.recorded;
    if (plain(text) !== plain(accepted)) return [make("p", "No PTX is recorded for this text: real Triton has accepted another one.")];
    const rows = (variant) => variant.filter(([line]) => line === number).flatMap(([, instructions]) => instructions);
    const shown = multiples?.[0].includes("n") ? [["n = 100000", wide], ["n = 100001", narrow]] : [["without a promise about n", narrow]];
    return shown.flatMap(([words, variant]) => [
      make("h3", `PTX by real Triton ${triton}, ${words}`),
      make("pre", rows(variant).join("\n") || "no instruction of its own"),
    ]);
  }
}

const plain = (text) => text.replace(/\s+/g, " ").trim();

function make(name, ...children) {
  const made = document.createElement(name);
  made.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  if (name === "pre" || name === "table") made.tabIndex = 0; // they scroll
  return made;
}

function span(made, columns) {
  made.colSpan = columns;
  return made;
}

function cell(value, program) {
  const words = Array.isArray(value) ? `${value[0]}+${value[1]}` : value === true ? "✓" : value === false ? "✗" : value;
  const made = make("td", words ?? "–");
  made.className = value === null || value === false ? "off" : `p${program}`;
  return made;
}
