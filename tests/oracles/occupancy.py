"""NVIDIA's recorded answers: how many blocks of a kernel fit into a multiprocessor, and what limits their number.

    occupancy.load()["sm_90"][0]    # {"warps": 4, "registers": 32, "shared": 0, "blocks": 16, "limiters": ["warps"]}

The answers come from `cuda_occupancy.h`, the calculator in CUDA, which needs no GPU. Run it again by

    python -m tests.oracles.occupancy FOLDER [--check]

FOLDER contains the header; `pip download nvidia-cuda-runtime-cu12` downloads it, for example.
"""

import argparse
import functools
import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests import oracles

RECORDS = Path(__file__).parent / "records" / "occupancy.json"

DEVICES = {  # threads of a multiprocessor; its bytes of shared memory, at most for a block, and reserved in a block
    "sm_75": (1024, 65536, 65536, 0),
    "sm_80": (2048, 167936, 166912, 1024),
    "sm_86": (1536, 102400, 101376, 1024),
    "sm_89": (1536, 102400, 101376, 1024),
    "sm_90": (2048, 233472, 232448, 1024),
    "sm_100": (2048, 233472, 232448, 1024),
}
"""Facts about compute capabilities from CUDA's guide; the header has all other facts."""

WARPS = (1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32)
REGISTERS = (1, 16, 24, 32, 33, 40, 41, 48, 56, 64, 65, 72, 80, 96, 97, 104, 128, 129, 160, 168, 192, 200, 224, 255)
SHARED = (
    0,
    1,
    128,
    129,
    1024,
    4096,
    5000,
    12288,
    16384,
    20480,
    32768,
    49152,
    65536,
    98304,
    101376,
    101377,
    166912,
    200000,
    232448,
    232449,
    300000,
)
STEP = 8  # has no factor in common with the number of sizes

PROGRAM = r"""
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <cuda_occupancy.h>

int main(void) {
    int capability, threads, multiprocessor, block, reserved, warps, registers, shared;
    while (scanf("%d %d %d %d %d %d %d %d", &capability, &threads, &multiprocessor, &block, &reserved, &warps,
                 &registers, &shared) == 8) {
        struct cudaOccDeviceProp device = {capability / 10, capability % 10, 1024, threads, 65536, 65536, 32, 49152,
                                           multiprocessor, 100, block, reserved};
        struct cudaOccFuncAttributes kernel = {INT_MAX, registers, 0, PARTITIONED_GC_OFF, FUNC_SHMEM_LIMIT_OPTIN,
                                               block, 1};
        struct cudaOccDeviceState state = {CACHE_PREFER_SHARED, SHAREDMEM_CARVEOUT_MAX_SHARED};
        struct cudaOccResult result;
        memset(&result, 0, sizeof result);
        int error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, 32 * warps, shared);
        printf("%d %d %u\n", error, result.activeBlocksPerMultiprocessor, result.limitingFactors);
    }
}
"""
LIMITERS = {1: "warps", 2: "registers", 4: "shared memory", 8: "blocks"}


@functools.cache
def load() -> dict[str, list[dict[str, Any]]]:
    """The questions with their answers, by compute capability."""
    recorded = json.loads(RECORDS.read_text(encoding="utf-8"))
    oracles.note("cuda", f"records {recorded['version']}")
    names = recorded["fields"]
    return {
        target: [dict(zip(names, [*row[:-1], row[-1].split(", ")], strict=True)) for row in rows]
        for target, rows in recorded["answers"].items()
    }


def questions(target: str) -> Iterator[tuple[int, int, int]]:
    """Warps, registers of a thread and shared memory: one of each `STEP` combinations."""
    for number, question in enumerate(itertools.product(WARPS, REGISTERS, SHARED)):
        if number % STEP == 0:
            yield question


def ask(folder: str) -> dict[str, list[list[Any]]]:
    """The answers of the calculator in this folder."""
    answers: dict[str, list[list[Any]]] = {}
    with tempfile.TemporaryDirectory() as place:
        source, program = Path(place, "ask.c"), Path(place, "ask")
        source.write_text(PROGRAM, encoding="utf-8")
        subprocess.run(["cc", f"-I{folder}", str(source), "-o", str(program)], check=True)
        for target, device in DEVICES.items():
            asked = list(questions(target))
            numbers = [(int(target.removeprefix("sm_")), *device, *question) for question in asked]
            lines = "\n".join(" ".join(map(str, row)) for row in numbers)
            done = subprocess.run([str(program)], input=lines, capture_output=True, text=True, check=True)
            answers[target] = []
            for question, line in zip(asked, done.stdout.splitlines(), strict=True):
                error, blocks, factors = map(int, line.split())
                if error == 0:
                    limiters = [name for bit, name in LIMITERS.items() if factors & bit]
                    answers[target].append([*question, blocks, ", ".join(limiters)])
    return answers


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.occupancy", description="Record NVIDIA's answers.")
    parser.add_argument("folder", help="where cuda_occupancy.h is")
    parser.add_argument("--version", default="cuda_occupancy.h of CUDA 12.9", help="the version of the header")
    parser.add_argument("--check", action="store_true", help="change nothing, report whether an answer differs")
    options = parser.parse_args(arguments)
    answers = ask(options.folder)
    if options.check:
        same = json.loads(RECORDS.read_text(encoding="utf-8"))["answers"] == answers
        print("the same" if same else "the answers differ from the recorded ones")
        return 0 if same else 1
    rows = ",\n".join(
        f"{json.dumps(target)}: [\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]"
        for target, rows in answers.items()
    )
    fields = json.dumps(["warps", "registers", "shared", "blocks", "limiters"])
    head = f'{{\n"version": {json.dumps(options.version)},\n"fields": {fields},\n"answers": {{\n'
    RECORDS.write_text(f"{head}{rows}\n}}\n}}\n", encoding="utf-8")
    print({target: len(rows) for target, rows in answers.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
