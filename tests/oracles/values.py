"""Results of compiled Triton on a GPU, recorded for machines without one.

    values.corpus(case)       # the buffers of a kernel of the corpus after its launch
    values.answer(question)   # the result of an elementwise operation on awkward numbers

`python -m tests.oracles.record --values` records both on a machine with a GPU. For the records, Triton does not fuse
products and sums, so the same operations give the same bits. Values are stored exactly.
"""

import functools
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tests import oracles
from tests.corpus import CASES
from tests.corpus.cases import Case
from tests.corpus.inputs import buffers, checksum, inputs
from tests.oracles import elementwise, gpu, triton
from tests.oracles.elementwise import QUESTIONS, Question
from tests.oracles.launching import Launch

FOLDER = Path(__file__).parent / "records"
FILES = ("corpus_values.npz", "elementwise_values.npz")
SEED = 0
SECONDS = 60.0
OPTIONS = {"enable_fp_fusion": False}


def corpus(case: Case) -> dict[str, np.ndarray]:
    """All buffers after the launch of a case on `inputs(case, SEED)`. Ends the test if they are not recorded."""
    arguments, hidden = inputs(case, SEED)
    before = dict(buffers(case, [*arguments, *hidden]))
    changed = _recorded(FILES[0], str(case), _asked(case))
    return {name: changed[name].view(array.dtype) if name in changed else array for name, array in before.items()}


def answer(question: Question) -> np.ndarray:
    """The result of an operation on `question.operands()`. Ends the test if it is not recorded."""
    changed = _recorded(FILES[1], question.name, checksum(question.operands()))
    before = question.result_before()
    return changed["result"].view(before.dtype) if "result" in changed else before


def about(file: str) -> dict[str, Any]:
    """The versions behind a file, checksums of the questions, and the failures."""
    return json.loads(str(_load(file)["about"]))


def write(folder: Path = FOLDER) -> list[str]:
    """Record all values on this machine's GPU. Return what could not be recorded, and why."""
    folder.mkdir(parents=True, exist_ok=True)
    cases = {str(case): case for case in CASES}
    launches = {name: _launch(case) for name, case in cases.items()}
    launches |= {name: _question(question) for name, question in QUESTIONS.items()}
    launched = dict(zip(launches, gpu.launch_many(list(launches.values()), SECONDS), strict=True))
    failed = {name: result.diagnostic for name, result in launched.items() if not result}

    changed, results = {}, {}
    for name in launches.keys() - failed.keys():
        if name in cases:
            before, after = (dict(buffers(cases[name], v)) for v in (launches[name].values, launched[name].values))
            changed[name] = {key: after[key] for key in after if after[key].tobytes() != before[key].tobytes()}
        else:
            results[name] = {"result": launched[name].values[-1]}
    failed |= {name: "writes nothing" for name in changed if not changed[name]}

    _save(folder / FILES[0], changed, {name: _asked(cases[name]) for name in changed}, failed)
    _save(folder / FILES[1], results, {name: checksum(QUESTIONS[name].operands()) for name in results}, failed)
    return [f"{name}: {reason}" for name, reason in failed.items()]


def _asked(case: Case) -> int:
    """A checksum of a launch."""
    arguments, hidden = inputs(case, SEED)
    return checksum([*arguments, *hidden, list(case.grid), dict(case.constexprs)])


def _launch(case: Case) -> Launch:
    source = replace(case.source(), options=OPTIONS)
    return Launch(source, case.grid, *inputs(case, SEED))


def _question(question: Question) -> Launch:
    return Launch(question.text, elementwise.GRID, [*question.operands(), question.result_before()], options=OPTIONS)


def _save(
    path: Path, arrays: Mapping[str, Mapping[str, np.ndarray]], asked: Mapping[str, int], failed: Mapping[str, str]
) -> None:
    """Save arrays by name, as integers of the same size, because NumPy does not know all of their dtypes."""
    import torch

    facts = {"triton": triton.version(), "torch": torch.__version__, "gpu": torch.cuda.get_device_name()}
    facts |= {"options": OPTIONS, "asked": dict(asked), "failed": dict(failed)}
    bits = {
        f"{name}/{key}": array.view(f"u{array.itemsize}")
        for name in sorted(arrays)
        for key, array in arrays[name].items()
    }
    np.savez_compressed(path, allow_pickle=False, about=np.array(json.dumps(facts)), **bits)
    print(f"{path}: {len(arrays)} launches, {path.stat().st_size / 1e6:.2f} MB")


def _recorded(file: str, name: str, asked: int) -> dict[str, np.ndarray]:
    """The buffers that a launch changed."""
    if not (FOLDER / file).exists():
        oracles.unavailable(f"no values are recorded in {file}")
    facts = about(file)
    if name in facts["failed"]:
        oracles.unavailable(f"{name} was not recorded: {facts['failed'][name]}")
    assert facts["asked"].get(name) == asked, (
        f"{name} was recorded for other inputs, or not at all: run `python -m tests.oracles.record --values` on a GPU"
    )
    oracles.note("triton", f"records {facts['triton']} on {facts['gpu']}")
    return {key[len(name) + 1 :]: array for key, array in _load(file).items() if key.startswith(f"{name}/")}


@functools.cache
def _load(file: str) -> dict[str, np.ndarray]:
    with np.load(FOLDER / file) as loaded:
        return dict(loaded)
