"""Every name of the language runs in a kernel of one line, as real Triton runs it, or is refused with a reason."""

import functools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mini_triton.codegen import compile_module
from mini_triton.compat.missing import INSIDE
from mini_triton.errors import CompilationError
from mini_triton.ir.interpreter import run as interpret
from mini_triton.ir.printer import print_module
from mini_triton.ir.storage import Buffer

from bench import language
from tests import oracles
from tests.corpus import names
from tests.oracles import interpreter, triton
from tests.oracles.launching import Launch, Launched
from tests.support import sources
from tests.support.m06_codegen import closeness, numpy_backend

LENGTH = 32
KERNELS = [(place, name) for place, rows in names.ROWS.items() for name in rows]
ON_CPUS = [(place, name) for place, known in names.ON_CPUS.items() for name in known]
ON_GPUS = [(place, name) for place, rows in names.ON_GPUS.items() for name in rows]
HOST = list(names.HOST)

kernels = pytest.mark.parametrize(("place", "name"), KERNELS)


def arguments() -> list[Any]:
    """Memory for the results, floats, and integers from 0 to 7."""
    generator = np.random.default_rng(0)
    floats = generator.normal(size=LENGTH).astype(np.float32)
    return [np.zeros(LENGTH, np.float32), floats, generator.integers(0, 8, LENGTH, dtype=np.int32)]


@functools.cache
def compiled(place: str, name: str) -> Any:
    """The kernel of a name, compiled by our front end."""
    return sources.compiled(names.source(names.expression(place, name)))


@functools.cache
def interpreted() -> dict[tuple[str, str], Launched]:
    """The result of real Triton's interpreter for each kernel."""
    asked = [key for key in KERNELS if key[1] not in names.NOT_INTERPRETED.get(key[0], ())]
    launches = [Launch(names.source(names.expression(*key)), (1,), arguments()) for key in asked]
    return dict(zip(asked, interpreter.launch_many(launches), strict=True))


@kernels
def test_runs_on_a_cpu(place: str, name: str) -> None:
    if place == "tl.extra.libdevice" and name in names.LIBDEVICE_ON_GPUS:
        return
    ours, *_ = numpy_backend.run(compiled(place, name), (1,), arguments(), mode="fast")
    if (place, name) not in interpreted():
        return
    theirs = interpreted()[place, name]
    assert theirs, f"{theirs.diagnostic}"
    closeness.check(name, ours, theirs.values[0], closeness.rounding(compiled(place, name)))


@functools.cache
def accepted() -> dict[tuple[str, str], tuple[triton.Answer, triton.Made]]:
    """Whether real Triton accepts our module, and the kernel."""
    asked = [*KERNELS, *ON_GPUS]
    answers = triton.accepts_many([print_module(compiled(*key)) for key in asked])
    made = triton.frontends([names.source(names.expression(*key)) for key in asked])
    return dict(zip(asked, zip(answers, made, strict=True), strict=True))


@pytest.mark.parametrize(("place", "name"), [*KERNELS, *ON_GPUS])
def test_is_accepted(place: str, name: str) -> None:
    ours, theirs = accepted()[place, name]
    assert ours, ours.diagnostic
    refused = (place, name) in ON_CPUS or name in names.REFUSED.get(place, ())
    assert theirs or refused, theirs.diagnostic


def test_compiles_for_a_gpu() -> None:
    some = [*[key for key in KERNELS if key not in ON_CPUS][::8], *ON_GPUS]
    answers = triton.compile_many([print_module(compiled(*key)) for key in some], "sm_90")
    assert not [(key, answer.diagnostic) for key, answer in zip(some, answers, strict=True) if not answer]


@pytest.mark.parametrize(("place", "name"), ON_GPUS)
@pytest.mark.parametrize("run", [interpret, lambda module, grid, given: compile_module(module)(grid, given)])
def test_is_refused_on_cpus(place: str, name: str, run: Any) -> None:
    buffers = [Buffer.of(name, array) for name, array in zip(("out", "xs", "ns"), arguments(), strict=True)]
    with pytest.raises(CompilationError, match="on GPUs only"):
        run(compiled(place, name), (1,), buffers)


@functools.cache
def theirs_on_the_host() -> dict[str, str]:
    """The value of each expression with real Triton, in a process of its own."""
    if not triton.available():
        oracles.unavailable("real Triton is not installed")
    program = (
        "import sys; namespace = {}; "
        "exec(compile(open(sys.argv[1]).read(), sys.argv[1], 'exec'), namespace); "
        f"values = {{name: repr(eval(text, namespace)) for name, text in {names.HOST!r}.items()}}; "
        "import json; print(json.dumps(values))"
    )
    file = Path(__file__).parents[1] / "corpus" / "host_names.py"
    done = subprocess.run([sys.executable, "-c", program, str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    answers: dict[str, str] = json.loads(done.stdout)
    return answers


@pytest.mark.parametrize("name", HOST)
def test_programs_find_it(name: str) -> None:
    file = Path(__file__).parents[1] / "corpus" / "host_names.py"
    ours = eval(names.HOST[name], sources.load(file.read_text(encoding="utf-8"), str(file)))
    assert repr(ours) == theirs_on_the_host()[name]


@pytest.mark.parametrize("place", language.PLACES)
def test_is_here_or_refused_with_a_reason(place: str) -> None:
    """The page also lists it."""
    owner = language.owner(place)
    for name in language.all_names()[place]:
        status = language.status(place, name)
        if name in dir(type(owner)):
            assert status.runs, f"{place}.{name} is here, but no kernel shows that it runs"
            continue
        try:
            getattr(owner, name)
        except AttributeError as error:
            assert "does not support" in str(error), str(error)
            assert status.reason, f"{place}.{name} is not here, so the page must say why"
        else:
            assert status.runs or status.reason == INSIDE, f"{place}.{name}: no kernel shows that it runs"


def test_unknown_names() -> None:
    for place in language.PLACES:
        if place == "dtype":
            continue
        with pytest.raises(AttributeError, match="has no flux_capacitor, and Triton does not have it either"):
            _ = language.owner(place).flux_capacitor


def test_the_page_is_current() -> None:
    text = (language.PAGE).read_text(encoding="utf-8")
    assert text == language.page(), "run `python -m bench.language`"


def test_recorded_names_are_those_of_the_installed_version() -> None:
    if not triton.available():
        oracles.unavailable("real Triton is not installed")
    recorded = language.recorded()
    version = triton.version()
    if version not in recorded:
        oracles.unavailable(f"the names of Triton {version} are not recorded")
    assert recorded[version] == language.ask_installed()[version], "run `python -m bench.language --record`"


def test_most_names_run() -> None:
    counts = language.count(language.all_names())
    assert counts.runs >= 0.95 * counts.makes_sense
