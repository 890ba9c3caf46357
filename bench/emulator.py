"""The emulator: how fast it is, how much of the corpus is right, and which mutants of real Triton's PTX it notices.

python -m bench.emulator                  speed
python -m bench.emulator --corpus         the corpus for sm_80 and sm_90 or named targets, beside records of a GPU
python -m bench.emulator --mutants 12     up to 12 mutants of each kind and kernel
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from mini_triton.emulator.parser import PtxError

from tests.corpus import CASES, named
from tests.corpus.cases import TARGETS, Case
from tests.corpus.inputs import checksum
from tests.oracles.triton import version
from tests.support.emulator import compiled, is_right, launch
from tests.support.emulator.mutations import mutants

MUTATED = (
    "softmax_row layer_norm_forward matmul_kernel matmul_grouped_relu attention_forward_causal attention_forward "
    "batched_dot reduce_axes arg_reductions transpose recurrence_chunked rotary segmented_sum custom_reductions "
    "compact last_block_sums cross_entropy rms_norm group_norm"
).split()


def speed() -> None:
    """Milliseconds of launches, unchecked and checked, as processor time."""
    print(f"{'launch':<28}{'target':>8}{'unchecked':>11}{'checked':>9}")
    total = np.zeros(2)
    for case in CASES:
        for target in TARGETS:
            text = compiled(case, target)
            times = []
            for check in (False, True):
                runs = []
                for _ in range(3):
                    start = time.process_time()
                    launch(case, text.ptx, text.shared, check)
                    runs.append(time.process_time() - start)
                times.append(1e3 * min(runs))
            total += times
            print(f"{case!s:<28}{target:>8}{times[0]:>11.1f}{times[1]:>9.1f}")
    print(f"{'total':<36}{total[0]:>11.1f}{total[1]:>9.1f}")


def corpus(targets: Sequence[str]) -> None:
    """How much of the corpus is right, for each target."""
    print(f"real Triton {version()}")
    for target in targets:
        found: Counter[str] = Counter()
        for case in CASES:
            outcome, text = outcome_of(case, target)
            found[outcome] += 1
            if text:
                print(f"{case} on {target}: {outcome}: {text}")
        print(f"{target}: {dict(found)}", flush=True)


def outcome_of(case: Case, target: str) -> tuple[str, str]:
    """What becomes of a case, and why it is not right."""
    try:
        text = compiled(case, target)
    except AssertionError as refusal:
        return "not compiled", str(refusal)
    try:
        report, after = launch(case, text.ptx, text.shared)
    except PtxError as error:
        return "not emulated", str(error)
    if report.errors:
        return "right, with errors" if is_right(case, after) else "wrong, with errors", str(report)
    return ("right", "") if is_right(case, after) else ("wrong", "no error")


def break_kernels(limit: int) -> None:
    """What becomes of mutants: reported, a wrong result only, not PTX any more, the same bits, or none of these."""
    chosen = random.Random(1)
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    for case in named(*MUTATED):
        for target in TARGETS:
            text = compiled(case, target)
            report, unbroken = launch(case, text.ptx, text.shared)
            redundant = {finding.ptx_line for finding in report.findings if finding.kind == "redundant barrier"}
            by_kind = defaultdict(list)
            for mutant in mutants(text.ptx):
                by_kind[mutant.kind].append(mutant)
            for kind, group in by_kind.items():
                for mutant in group if len(group) <= limit else chosen.sample(group, limit):
                    outcome = judge(case, mutant.text, text.shared, target, unbroken)
                    if outcome == "same bits" and mutant.line in redundant:
                        outcome = "said to be redundant"
                    outcomes[kind][outcome] += 1
                    if outcome in ("survives", "same bits"):
                        print(f"{outcome}: {case} on {target}, {kind}, line {mutant.line}: {mutant.before}")
    for kind, found in outcomes.items():
        print(f"{kind:<32}{dict(found)}")
    total = sum(outcomes.values(), Counter())
    noticed = sum(
        total[word] for word in ("reported", "reported, result right", "wrong result", "said to be redundant")
    )
    changed = noticed + total["survives"]
    print(f"{noticed} of {changed} that change a result or a report are noticed: {dict(total)}")


def judge(case: Case, ptx: str, shared: int, target: str, unbroken: Sequence[Any]) -> str:
    """What becomes of a mutant, beside the arguments after the unbroken launch."""
    if not assembles(ptx, target):
        return "does not assemble"
    report, after = launch(case, ptx, shared)
    right = is_right(case, after)
    if report.errors:
        return "reported, result right" if right else "reported"
    if checksum(after) == checksum(unbroken):
        return "same bits"
    return "survives" if right else "wrong result"


def assembles(ptx: str, target: str) -> bool:
    """Whether NVIDIA's assembler accepts a text."""
    triton = importlib.util.find_spec("triton")
    assert triton and triton.origin
    assembler = Path(triton.origin).parent / "backends/nvidia/bin/ptxas"
    name = "sm_90a" if target == "sm_90" else target
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx)
        file.flush()
        command = [str(assembler), f"-arch={name}", "-O0", "-o", "/dev/null", file.name]
        return subprocess.run(command, capture_output=True).returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", nargs="*", metavar="TARGET")
    parser.add_argument("--mutants", type=int, metavar="N", default=0)
    options = parser.parse_args()
    if options.corpus is not None:
        corpus(options.corpus or TARGETS)
    elif options.mutants:
        break_kernels(options.mutants)
    else:
        speed()


if __name__ == "__main__":
    main()
