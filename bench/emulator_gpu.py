"""The emulator beside a GPU of the Hopper generation: single instructions, whole launches, and hardware counters.

python3 -m bench.emulator_gpu --to FOLDER                        all of it; it takes about five minutes
python3 -m bench.emulator_gpu --to FOLDER --only instructions    instructions, launches or counters

FOLDER gets `ptx_instructions.npz`, the record for `tests/oracles/records/`, and tables as JSON, which contain each
difference. Launches for which no time is left are counted as "not run". The exit status is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import csv
import json
import multiprocessing
import os
import pickle
import queue
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from mini_triton.ir.parser import parse_module

from bench import ROOT
from bench.by_driver import Addresses, Gpu, Job, assemble, run, start
from tests.corpus import CASES, named
from tests.corpus.cases import Case
from tests.corpus.inputs import inputs
from tests.oracles import modules
from tests.oracles.process import Server, Silent
from tests.support.emulator import forms, launch
from tests.support.m06_codegen import closeness

Launcher = Callable[[Job], list[np.ndarray] | str]
SPAWN = multiprocessing.get_context("spawn")
WORKERS = min(os.cpu_count() or 1, 14)
PARTS = ("instructions", "counters", "launches")
COUNTED = (
    "add_kernel softmax_row layer_norm_forward cross_entropy matmul_kernel matmul_grouped_relu "
    "attention_forward_causal transpose scan_axes reduce_axes gather_rows stencil"
).split()
UNFUSED = {"enable_fp_fusion": False}
COMPILED = (("sm_90", UNFUSED), ("sm_80", UNFUSED), ("sm_90", {"num_warps": 8}), ("sm_80", {"num_warps": 2}))
SIZES = {"n", "columns", "length", "size", "width", "M", "N", "K", "steps"}
"""Arguments that may be smaller than written."""
FIXED = ("matmul_grouped_relu", "conv2d_direct")
"""Cases with a grid that fits the sizes as written only."""
SHARES = (1.0, 0.625, 0.11)
INEXACT = {
    "approximate": r"\.approx|\.full",
    "tensor cores": r"mma\S*\.(?:f16|bf16|tf32|e4m3|e5m2)\.",
    "order": r"(?:atom|red)\.\S*(?:add\.(?:noftz\.)?b?f\d+|cas|exch)",
}
"""Why results may differ: PTX leaves it open how these instructions round, or in which order."""
METRICS = (
    r"l1tex__t_sectors_pipe_lsu_mem_global_op_(?:ld|st|atom|red|ldgsts\w*)|"
    r"l1tex__data_pipe_lsu_wavefronts_mem_shared(?:_op_\w+)?|l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_\w+|"
    r"smsp__inst_executed_(?:op_ldsm|op_ldgsts\w*|pipe_lsu)|smsp__inst_executed"
)
KNOWN = [f"l1tex__t_sectors_pipe_lsu_mem_global_op_{op}" for op in ("ld", "st")]
KNOWN += [f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}" for op in ("ld", "st")]
"""Counters to ask for if the profiler does not list its counters."""


# --- instructions


def record(gpu: Launcher, to: Path, facts: Mapping[str, Any], compile: Callable[[str], bytes | str] = assemble) -> int:
    """Record what the GPU computes for each form, and compare the emulator. Returns how many forms differ."""
    with ThreadPoolExecutor(WORKERS) as threads:
        codes = list(threads.map(lambda form: compile(form.program()), forms.FORMS.values()))
    answers, refused, wrong = {}, {}, []
    for form, code in zip(forms.FORMS.values(), codes, strict=True):
        operands = form.operands()
        if isinstance(code, str):
            refused[form.text] = code
            continue
        after = gpu(Job(form.program(), code, (1,), [*operands, form.blank()]))
        if isinstance(after, str):
            refused[form.text] = after
            continue
        wanted = answers[form.text] = after[-1]
        try:
            got = form.emulated()
        except Exception as error:
            wrong.append({"form": form.text, "lanes": forms.THREADS, "first": f"{type(error).__name__}: {error}"})
            continue
        if (bad := form.wrong(got, wanted)).any():
            lanes = np.flatnonzero(bad)[:4].tolist()
            shown = [
                f"{', '.join(shown_number(x[n]) for x in operands)} gives {shown_number(wanted[n])} on the GPU, "
                f"{shown_number(got[n])} here"
                for n in lanes
            ]
            wrong.append({"form": form.text, "lanes": int(bad.sum()), "first": shown})
    if answers:
        forms.save(to / forms.RECORDS.name, answers, refused, facts)
    write(to / "instructions.json", {**facts, "recorded": len(answers), "refused": refused, "different": wrong})
    print(f"instructions: {len(answers)} forms recorded, {len(refused)} refused, {len(wrong)} differ")
    for text, reason in refused.items():
        print(f"  refused: {text}: {reason[:200]}")
    for row in wrong:
        print(f"  {row['form']}: {row['lanes']} of {forms.THREADS} lanes: {row['first']}")
    return len(wrong) + len(refused)


def shown_number(value: Any) -> str:
    """A number and its bits."""
    return f"{value!s} ({np.asarray(value).view(f'u{value.dtype.itemsize}').item():#x})"


# --- launches


@dataclass
class Trial:
    """A launch of a case, and what came of it."""

    case: Case
    target: str
    options: Mapping[str, Any]
    share: float = 1.0
    whole: bool = False  # small whole numbers instead of random ones, so that sums are exact
    seed: int = 0
    ptx: str = ""
    shared: int = 0
    verdict: str = "not run"
    detail: str = ""
    findings: list[str] = field(default_factory=list)

    @property
    def why(self) -> str:
        """Why results may differ; "" if all bits must agree."""
        known = dict(INEXACT) if not self.whole else {k: v for k, v in INEXACT.items() if k != "tensor cores"}
        return ", ".join(name for name, pattern in known.items() if re.search(pattern, self.ptx))

    def changed(self) -> Case:
        """The case with this trial's sizes and numbers."""
        given = []
        for argument in self.case.arguments:
            if argument.length is None and argument.name in SIZES and self.share < 1:
                step = 16 if argument.divisible else 1
                argument = replace(argument, value=str(max(int(argument.number * self.share) // step, 1) * step))
            elif self.whole and argument.length and not argument.value and "f" in argument.type:
                argument = replace(argument, value="below 5")
            given.append(argument)
        return replace(self.case, arguments=tuple(given))

    def row(self) -> dict[str, Any]:
        """The result as data."""
        kept = {"case": str(self.case), "target": self.target, "options": dict(self.options), "share": self.share}
        kept |= {"whole": self.whole, "seed": self.seed, "why": self.why, "verdict": self.verdict}
        return kept | {"detail": self.detail, "findings": self.findings}


def trials(cases: Sequence[Case] = CASES) -> Iterator[list[Trial]]:
    """Launches, in groups with the same PTX."""
    for target, options in COMPILED:
        for case in cases:
            sizes = str(case) not in FIXED and any(a.length is None and a.name in SIZES for a in case.arguments)
            group = [Trial(case, target, options, s, seed=n) for n, s in enumerate(SHARES if sizes else SHARES[:1])]
            if options == UNFUSED:
                group.append(Trial(case, target, options, whole=True, seed=3))
            yield group


def compiled(groups: Sequence[list[Trial]], deadline: float) -> Iterator[list[Trial]]:
    """The groups as real Triton's compiler finishes them, with PTX."""
    free: queue.SimpleQueue[Server] = queue.SimpleQueue()
    servers = [Server() for _ in range(min(WORKERS, len(groups)))]
    for server in servers:
        free.put(server)

    def make(group: list[Trial]) -> list[Trial]:
        first, left = group[0], deadline - time.monotonic()
        if left < 5:
            return group
        server = free.get()
        try:
            source = replace(first.case.source(first.target), options=first.options)
            request = {"do": "written.make", **source.question(), "steps": False, "lower": True}
            (answer,) = server.ask([request], left)
        except Silent as silence:
            answer = {"ok": False, "diagnostic": str(silence)}
        finally:
            free.put(server)
        for trial in group:
            if answer["ok"]:
                trial.ptx, trial.shared = answer["ptx"], answer["shared"]
            else:
                trial.verdict, trial.detail = "not compiled", answer["diagnostic"]
        return group

    with ThreadPoolExecutor(len(servers)) as threads:
        yield from threads.map(make, groups)
    for server in servers:
        server.close()


def job_of(trial: Trial, code: bytes) -> Job:
    """A trial's launch for the GPU."""
    arguments, hidden = inputs(trial.changed(), trial.seed)
    given = [Addresses(v["addresses"]) if isinstance(v, dict) else v for v in arguments]
    return Job(trial.ptx, code, trial.case.grid, given, trial.shared, hidden)


def emulated(trial: Trial) -> tuple[bytes | str, list[np.ndarray], list[str], dict[str, int]]:
    """Machine code for a trial, its buffers after an emulated launch, the errors found, and the counts."""
    code = assemble(trial.ptx)
    report, after = launch(trial.changed(), trial.ptx, trial.shared, seed=trial.seed)
    buffers = [array for array in after if isinstance(array, np.ndarray)]
    lines = trial.ptx.split("\n")
    copies = (c.bank_ways for line, (_, c) in report.instructions.items() if "cp.async" in lines[line - 1])
    return code, buffers, list(map(str, report.errors)), {**vars(report.total), "copy_ways": sum(copies)}


def compare(trial: Trial, got: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> None:
    """Judge the emulator's buffers beside the GPU's."""
    arguments, hidden = inputs(trial.changed(), trial.seed)
    skipped = [isinstance(v, dict) for v in [*arguments, *hidden] if isinstance(v, dict | np.ndarray)]
    trial.verdict = "equal"
    for number, (x, y, skip) in enumerate(zip(got, wanted, skipped, strict=True)):
        if skip or x.tobytes() == y.tobytes():
            continue
        bits = f"u{x.itemsize}"
        differs = x.view(bits) != y.view(bits)
        if x.dtype.kind not in "iub":
            with np.errstate(invalid="ignore"):
                differs &= ~(np.isnan(x.astype(np.float64)) & np.isnan(y.astype(np.float64)))
        if not differs.any():
            trial.verdict = "equal but for bits of NaN" if trial.verdict == "equal" else trial.verdict
            continue
        rounding = closeness.rounding(parse_module(modules.text(trial.case))) if trial.why else closeness.EXACT
        bounded = trial.why and not closeness.difference(x, y, rounding)
        if bounded and trial.verdict != "different":
            trial.verdict = "within bounds"
        elif not bounded:
            trial.verdict = "different"
        at = np.flatnonzero(differs)
        here, there = shown_number(x[at[0]]), shown_number(y[at[0]])
        trial.detail += f"buffer {number}: {len(at)} of {x.size} differ, first [{at[0]}]: {there} on the GPU, {here}; "


def run_launches(gpu: Launcher, to: Path, facts: Mapping[str, Any], deadline: float, cases: Sequence[Case]) -> int:
    """Launch the corpus on the GPU and on the emulator. Returns how many launches differ."""
    groups, done = list(trials(cases)), []
    kept: dict[str, np.ndarray] = {}
    pool = ProcessPoolExecutor(WORKERS, SPAWN)

    def started() -> Iterator[tuple[Trial, Any]]:
        for group in compiled(groups, deadline - 30):
            for trial in group:
                # Only floats that no other approximate instruction touches have exact sums.
                if trial.ptx and not (trial.whole and (trial.why or "mma" not in trial.ptx)):
                    yield trial, pool.submit(emulated, trial)
                elif not trial.whole:
                    yield trial, None

    for trial, future in list(started()):
        done.append(trial)
        if future is None:
            continue
        try:
            code, after, trial.findings, _ = future.result(max(deadline - time.monotonic(), 0.1))
        except TimeoutError:
            continue
        except Exception as error:
            trial.verdict, trial.detail = "different", f"the emulator: {type(error).__name__}: {error}"
            continue
        if isinstance(code, str):
            trial.verdict, trial.detail = "not assembled", code
            continue
        wanted = gpu(job_of(trial, code))
        if isinstance(wanted, str):
            trial.verdict, trial.detail = "different", f"the GPU: {wanted}"
            continue
        compare(trial, after, wanted)
        if trial.verdict == "different" and sum(a.nbytes for a in kept.values()) < 12e6:
            name = "/".join([str(trial.case), trial.target, str(trial.seed), "warps" + str(trial.options)])
            kept |= {f"{name}/{n}": array.view(f"u{array.itemsize}") for n, array in enumerate(wanted)}
            kept[f"{name}/ptx"] = np.frombuffer(trial.ptx.encode(), np.uint8)
    pool.shutdown(wait=False, cancel_futures=True)
    write(to / "launches.json", {**facts, "launches": [trial.row() for trial in done]})
    if kept:
        np.savez_compressed(to / "differences.npz", allow_pickle=False, **kept)
    return show(done)


def show(done: Sequence[Trial]) -> int:
    """Print a table of the verdicts, and all differences. Returns how many launches differ."""
    table = Counter((trial.why or "nothing", trial.verdict) for trial in done)
    verdicts = sorted({verdict for _, verdict in table})
    print(f"launches: {len(done)}; the rows say what PTX leaves open")
    print(f"{'':<40}" + "".join(f"{verdict:>27}" for verdict in verdicts))
    for why in sorted({why for why, _ in table}):
        print(f"{why:<40}" + "".join(f"{table[why, verdict]:>27}" for verdict in verdicts))
    print(f"{'all':<40}" + "".join(f"{sum(t.verdict == v for t in done):>27}" for v in verdicts))
    found = [trial for trial in done if trial.findings]
    print(f"launches in which the emulator reports an error: {len(found)}")
    for trial in found:
        first = trial.findings[0].split("\n")[0]
        print(f"  {trial.case} {trial.target} {dict(trial.options)} share {trial.share}: {first}")
    bad = [trial for trial in done if trial.verdict not in ("equal", "equal but for bits of NaN", "within bounds")]
    for trial in bad:
        about = f"{trial.case} {trial.target} {dict(trial.options)} share {trial.share} whole {trial.whole}"
        print(f"  {trial.verdict}: {about} ({trial.why or 'exact'}): {trial.detail[:300]}")
    return len(bad)


# --- counters


def count(to: Path, facts: Mapping[str, Any], deadline: float) -> int:
    """Hardware counters of launches beside the emulator's counts. Returns 1 if the profiler does not work."""
    profiler = shutil.which("ncu", path=f"{os.environ.get('PATH', '')}:/usr/local/cuda/bin")
    if not profiler:
        print("counters: not run, because ncu is not installed")
        return 1
    groups = list(compiled([[Trial(case, "sm_90", UNFUSED)] for case in named(*COUNTED)], deadline))
    jobs: list[Job] = []
    rows: list[dict[str, Any]] = []
    for (trial,) in groups:
        if not trial.ptx:
            print(f"counters: {trial.case} was not compiled: {trial.detail}")
            continue
        code, _, _, counts = emulated(trial)
        if isinstance(code, str):
            print(f"counters: {trial.case} was not assembled: {code}")
            continue
        jobs.append(job_of(trial, code))
        rows.append({"case": str(trial.case), "emulator": counts})
    (to / "jobs.pickle").write_bytes(pickle.dumps(jobs))
    known = subprocess.run([profiler, "--query-metrics"], capture_output=True, text=True).stdout
    names = [name for name in re.findall(r"^\s*(\w+)", known, re.M) if re.fullmatch(METRICS, name)] or KNOWN
    log = (to / "counters.csv").resolve()
    command = [profiler, "--csv", "--page", "raw", "--log-file", str(log), "--clock-control", "none", "--metrics"]
    command += [",".join(f"{name}.sum" for name in names), sys.executable, "-m", "bench.emulator_gpu"]
    command += ["--to", str(to), "--launch", str((to / "jobs.pickle").resolve())]
    try:
        limit = max(deadline - time.monotonic(), 10)
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=limit)
        said = done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        said = "the profiler took too long"
    (to / "jobs.pickle").unlink()
    read = counters(log.read_text()) if log.exists() else []
    if len(read) != len(rows):
        print(f"counters: {len(read)} of {len(rows)} launches were profiled; metrics {names}\n{said[-2000:]}")
        print(log.read_text()[-2000:] if log.exists() else "ncu wrote no file")
        return 1
    for row, found in zip(rows, read, strict=True):
        row["gpu"] = found
    write(to / "counters.json", {**facts, "kernels": rows})
    print(f"{'counters':<28}{'sectors':>9}{'GPU':>9}{'bank cycles':>12}{'GPU':>9}{'conflicts':>10}{'GPU':>9}  all")
    for row in rows:
        mine, theirs = row["emulator"], row["gpu"]
        sectors = sum(v for k, v in theirs.items() if k.startswith("l1tex__t_sectors") and "ldgsts_" not in k)
        cycles = sum(v for k, v in theirs.items() if re.search("wavefronts_mem_shared_op_(ld|st)$", k))
        known, lost = mine["bank_ways"] - mine["copy_ways"], sum(v for k, v in theirs.items() if "bank_conflicts" in k)
        print(
            f"{row['case']:<28}{mine['sectors']:>9}{sectors:>9.0f}{known:>12}{cycles:>9.0f}"
            f"{mine['bank_ways'] - mine['shared']:>10}{lost:>9.0f}  {theirs}"
        )
    return 0


def counters(text: str) -> list[dict[str, float]]:
    """The counters of each launch in the profiler's table."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    if not lines:
        return []
    head, _, *rows = csv.reader(lines)  # the second line has units
    columns = [n for n, name in enumerate(head) if name.endswith(".sum")]
    return [{head[n][:-4]: float(row[n].replace(",", "")) for n in columns if row[n]} for row in rows]


# --- the command


def write(path: Path, data: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None, gpu: Launcher | None = None) -> int:
    """The command line. Returns 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--only", choices=PARTS, action="append", metavar="PART")
    parser.add_argument("--cases", nargs="+", metavar="NAME", help="these cases of the corpus instead of all")
    parser.add_argument("--seconds", type=float, default=330, help="no launch begins later")
    parser.add_argument("--launch", type=Path, help=argparse.SUPPRESS)  # for the profiler
    options = parser.parse_args(arguments)
    if options.launch:
        for job in pickle.loads(options.launch.read_bytes()):
            run(job)
        return 0
    began = time.monotonic()
    options.to.mkdir(parents=True, exist_ok=True)
    parts, failed = options.only or PARTS, 0
    own = Gpu()
    with ProcessPoolExecutor(1, SPAWN) as other:
        name = "a stand-in" if gpu else other.submit(start).result()
    (version,) = (server := Server()).ask([{"do": "frontend.version"}], 60)
    server.close()
    facts = {"gpu": name, "triton": version["version"], "numpy": np.__version__}
    print(facts, flush=True)
    launcher = gpu or own.launch
    for part, work in {
        "instructions": lambda: record(launcher, options.to, facts),
        "counters": lambda: count(options.to, facts, began + options.seconds),
        "launches": lambda: run_launches(
            launcher, options.to, facts, began + options.seconds, named(*options.cases) if options.cases else CASES
        ),
    }.items():
        if part in parts:
            failed += work()
            print(f"-- {part} done after {time.monotonic() - began:.0f} s", flush=True)
    own.close()
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
