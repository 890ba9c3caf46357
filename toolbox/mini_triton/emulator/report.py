"""What a launch has shown: findings, and counts for each line of the Python kernel."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from mini_triton.emulator.parser import Instruction, Place

ERRORS = ("race", "uninitialized", "out of bounds", "misaligned", "barrier", "deadlock", "assertion", "trap", "async")
"""Kinds of findings that are errors. The other kinds are hints."""

WAYS_OUT = {
    "race": "separate the two accesses by a barrier (bar.sync) or by the wait of the copy",
    "async": "wait first: cp.async.wait_group, wgmma.wait_group, or the mbarrier of the copy",
    "uninitialized": "store to this place first, or read another",
    "out of bounds": "mask the access, or check the argument's size and strides",
    "misaligned": "the compiler was promised an alignment that the argument lacks",
    "barrier": "let all threads of the CTA reach the barrier, or none",
    "deadlock": "another program or thread must change what these threads wait for",
    "assertion": "see the condition of tl.device_assert",
    "trap": "see the condition before the instruction",
    "order": "let one thread of the warp store: which number stays is not defined",
    "divergence": "let whole warps take the same way",
    "banks": "pad or swizzle the rows in shared memory",
    "sectors": "let neighboring threads access neighboring addresses",
    "spills": "use smaller tiles or more warps",
    "redundant barrier": "no access of this launch needs it alone: try without it",
}


@dataclass
class Finding:
    """Something that the emulator has noticed at one instruction."""

    kind: str
    ptx_line: int
    instruction: str
    place: Place | None
    message: str
    ctas: list[int] = field(default_factory=list)  # the first few
    threads: list[int] = field(default_factory=list)  # of the first CTA, the first few
    count: int = 0  # how many threads, in all

    @property
    def is_error(self) -> bool:
        return self.kind in ERRORS

    def __str__(self) -> str:
        where = f"{self.place}" if self.place else f"PTX line {self.ptx_line}"
        who = f"CTA {self.ctas[0]}, threads {_listed(self.threads)}; {self.count} in all" if self.ctas else ""
        lines = [f"{where}: {self.kind}: {self.message}"]
        text = self.instruction if len(self.instruction) <= 90 else f"{self.instruction[:87]}..."
        lines.append(f"    PTX {self.ptx_line}: {text}")
        lines += [f"    {who}"] if who else []
        lines.append(f"    way out: {WAYS_OUT[self.kind]}")
        return "\n".join(lines)


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:4])) + (", …" if len(numbers) > 4 else "")


@dataclass
class Counts:
    """What an instruction, or a line of the Python kernel, costs. Executions and accesses are those of whole warps."""

    instructions: int = 0
    tensor_cores: int = 0
    barriers: int = 0
    sectors: int = 0  # of 32 bytes
    least_sectors: int = 0
    shared: int = 0  # accesses to shared memory, of as many lanes as a bank conflict can concern
    bank_ways: int = 0  # cycles that the banks need for them
    local: int = 0  # accesses of threads to local memory

    def add(self, **more: int) -> None:
        for name, value in more.items():
            setattr(self, name, getattr(self, name) + value)


@dataclass
class Report:
    """The result of an emulated launch."""

    kernel: str
    threads: int = 1  # of a CTA
    instructions: dict[int, tuple[Place | None, Counts]] = field(default_factory=dict)  # by line in PTX
    known: dict[tuple[str, int], Finding] = field(default_factory=dict, repr=False)

    @property
    def findings(self) -> list[Finding]:
        return list(self.known.values())

    @property
    def errors(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.is_error]

    @property
    def lines(self) -> dict[Place | None, Counts]:
        """The counts of each line of the Python kernel."""
        lines: dict[Place | None, Counts] = defaultdict(Counts)
        for place, counts in self.instructions.values():
            lines[place].add(**vars(counts))
        return lines

    @property
    def total(self) -> Counts:
        total = Counts()
        for _, counts in self.instructions.values():
            total.add(**vars(counts))
        return total

    def find(self, kind: str, i: Instruction, message: str, lanes: Any = ()) -> None:
        """Record a finding; lanes are threads of the whole grid. A kind is reported once for each instruction."""
        lanes = np.unique(np.asarray(lanes, np.int64))
        if (kind, i.line) not in self.known:
            ctas, own = np.divmod(lanes[:1000], self.threads)
            who = np.unique(ctas)[:4].tolist(), own[ctas == ctas[:1]][:8].tolist()
            self.known[kind, i.line] = Finding(kind, i.line, i.text, i.place, message, *who)
        self.known[kind, i.line].count += len(lanes)

    def count(self, i: Instruction, **more: int) -> None:
        """Add to the counts of an instruction."""
        _, counts = self.instructions.setdefault(i.line, (i.place, Counts()))
        counts.add(**more)

    def to_json(self) -> dict[str, Any]:
        """The report as data."""
        lines = [
            {"file": place and place.file, "line": place and place.line, **asdict(counts)}
            for place, counts in self.lines.items()
        ]
        findings = [
            {**{name: value for name, value in asdict(f).items() if name != "place"}, "error": f.is_error}
            | {"file": f.place and f.place.file, "line": f.place and f.place.line, "way_out": WAYS_OUT[f.kind]}
            for f in self.findings
        ]
        return {"kernel": self.kernel, "findings": findings, "lines": lines, "total": asdict(self.total)}

    def __str__(self) -> str:
        return "\n".join(self.rows())

    def rows(self) -> Iterator[str]:
        """The report as text: findings, then a table of lines."""
        errors = len(self.errors)
        yield f"{self.kernel}: {errors} error{'s' * (errors != 1)}, {len(self.findings) - errors} hints"
        for finding in sorted(self.findings, key=lambda f: not f.is_error):
            yield from ("", str(finding))
        yield ""
        yield f"{'line':<24}{'warp instr.':>12}{'tensor':>8}{'sectors':>10}{'least':>10}{'banks':>8}{'barriers':>10}"
        order = sorted(self.lines.items(), key=lambda item: (item[0] is None, item[0] and (item[0].file, item[0].line)))
        for place, c in [*order, ("total", self.total)]:
            share = f"{c.tensor_cores / max(c.instructions, 1):.0%}" if c.tensor_cores else ""
            ways = f"{c.bank_ways / c.shared:.1f}" if c.shared else ""
            name = str(place) if place else "(no line)"
            costs = f"{c.instructions:>12}{share:>8}{c.sectors:>10}{c.least_sectors:>10}{ways:>8}{c.barriers:>10}"
            yield f"{name:<24}{costs}"
