"""The table of the language, `docs/language.md`: which of Triton's names run here, and why the others do not.

    python -m bench.language            write the page
    python -m bench.language --record   record the names of the installed version of Triton first

A name runs if a kernel of the corpus uses it, or if `tests/corpus/names.py` has a one-line kernel or an expression for
it; tests run these and compare the results with real Triton's. The reasons for the other names are in
`mini_triton/compat/missing.py`.
"""

from __future__ import annotations

import argparse
import functools
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from mini_triton.compat.missing import AREAS, INSIDE, MISSING, NEWER

from bench import ROOT
from tests.corpus import names

PAGE = ROOT / "docs" / "language.md"
RECORDED = ROOT / "tests" / "corpus" / "names.json"

PLACES = {
    "triton": "The package, `triton.…`",
    "tl": "The language, `tl.…`",
    "tensor": "Methods of tensors",
    "dtype": "Methods of dtypes",
    "tl.math": "Mathematics, `tl.math.…`",
    "tl.extra.cuda": "NVIDIA GPUs, `tl.extra.cuda.…`",
    "tl.extra.libdevice": "The device library, `tl.extra.libdevice.…`",
}
"""The modules and classes with names, and their headings on the page."""

OUT_OF_SCOPE = (
    "mini_triton compiles Triton's language for CPUs and NVIDIA GPUs. It does not have these modules of Triton or of "
    "Triton's extensions; importing one of them raises a `ModuleNotFoundError` that names its contents."
)

ASK = """
import importlib, json, types, typing
import triton, triton.language as tl
from triton.language.extra import cuda, libdevice

def public(place):
    for name in sorted(dir(place)):
        value = getattr(place, name)
        if isinstance(value, types.ModuleType):
            theirs = value.__name__.startswith(getattr(place, "__name__", "") + ".")
        else:
            theirs = (getattr(value, "__module__", None) or "triton").startswith("triton")
        if not name.startswith("_") and theirs and not isinstance(value, typing.TypeVar):
            yield name

places = {"triton": triton, "tl": tl, "tensor": tl.tensor, "dtype": tl.dtype, "tl.math": tl.math}
places |= {"tl.extra.cuda": cuda, "tl.extra.libdevice": libdevice}
print(json.dumps({triton.__version__: {place: " ".join(public(value)) for place, value in places.items()}}))
"""


class Status(NamedTuple):
    """Where a name runs."""

    cpu: bool
    gpu: bool
    reason: str = ""  # why it does not run

    @property
    def runs(self) -> bool:
        return self.cpu or self.gpu


class Counts(NamedTuple):
    """How many names there are."""

    total: int
    makes_sense: int  # neither internal to Triton nor new in Triton 3.9
    runs: int  # on CPUs or GPUs
    both: int  # on CPUs and GPUs


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.language", description="Write the table of the language.")
    parser.add_argument("--record", action="store_true", help="record the names of the installed Triton first")
    if parser.parse_args(arguments).record:
        every = recorded() | ask_installed()
        RECORDED.write_text(json.dumps(dict(sorted(every.items())), indent=1) + "\n", encoding="utf-8")
        all_names.cache_clear()
    PAGE.write_text(page(), encoding="utf-8")
    counts = count(all_names())
    print(f"{PAGE}: {counts.runs} of {counts.makes_sense} names run")
    return 0


# --- the names


def ask_installed() -> dict[str, dict[str, str]]:
    """The names of the installed version of Triton, which runs in a process of its own."""
    done = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
    answer: dict[str, dict[str, str]] = json.loads(done.stdout)
    return answer


def recorded() -> dict[str, dict[str, str]]:
    """The names by version and place, separated by spaces."""
    known: dict[str, dict[str, str]] = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    return known


@functools.cache
def all_names() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Each name with the versions that have it, by place."""
    found: dict[str, dict[str, tuple[str, ...]]] = {place: {} for place in PLACES}
    for version, places in recorded().items():
        for place, text in places.items():
            for name in text.split():
                found[place][name] = (*found[place].get(name, ()), version)
    return {place: dict(sorted(known.items())) for place, known in found.items()}


def owner(place: str) -> Any:
    """The object in mini_triton whose attributes are a place's names."""
    import mini_triton
    from mini_triton import language

    dir(language)  # loads the whole language, which gives tensors their methods
    tensor: Any = language.tensor
    owners = {"triton": mini_triton, "tl": language, "tensor": tensor.__new__(tensor), "dtype": language.float32}
    owners |= {"tl.math": language.math, "tl.extra.cuda": language.extra.cuda}
    return (owners | {"tl.extra.libdevice": language.extra.libdevice})[place]


# --- where names run


@functools.cache
def used() -> frozenset[str]:
    """The names that kernels of the corpus use."""
    return frozenset(names.used())


def status(place: str, name: str) -> Status:
    """Where a name runs, according to the kernels that use it."""
    if reason := MISSING.get(place, {}).get(name):
        return Status(False, False, reason)
    if name in names.ON_CPUS.get(place, ()):
        return Status(True, False, "NVIDIA GPUs do not support it")
    if name in names.ON_GPUS.get(place, {}):
        return Status(False, True, "it uses PTX, which only GPUs can run")
    if place == "tl.extra.libdevice" and name in names.LIBDEVICE_ON_GPUS:
        return Status(False, True, "NumPy does not have this Bessel function")
    shown = name in (names.HOST if place == "triton" else names.ROWS[place]) or f"{place}.{name}" in used()
    return Status(shown, shown)


def count(places: Mapping[str, Iterable[str]]) -> Counts:
    """Counts of the names in these places."""
    every = [status(place, name) for place, known in places.items() for name in known]
    makes_sense = [one for one in every if one.reason not in (INSIDE, NEWER)]
    return Counts(
        len(every),
        len(makes_sense),
        sum(one.runs for one in makes_sense),
        sum(one.cpu and one.gpu for one in makes_sense),
    )


# --- the page


def page() -> str:
    """The table of the language."""
    known = all_names()
    versions = list(recorded())
    lines = [
        "# The language",
        "",
        f"This page lists every public name of Triton {', '.join(versions[:-1])} and {versions[-1]}. A name that "
        "only some of these versions have is followed by those versions in parentheses. A name *runs* if a test runs "
        "a kernel or a program that uses the name. Nearly all names that run neither on CPUs nor on GPUs are missing "
        "from mini_triton: accessing such a name raises an `AttributeError` with the reason that the tables give. "
        "`python -m bench.language` generates this page.",
        "",
        "| part of Triton | names | relevant names | run on CPUs or GPUs | run on both |",
        "|---|---:|---:|---:|---:|",
    ]
    rows = {title: count({place: known[place]}) for place, title in PLACES.items()}
    for title, counts in (rows | {"total": count(known)}).items():
        lines.append(f"| {title} | {counts.total} | {counts.makes_sense} | {counts.runs} | {counts.both} |")
    lines += [
        "",
        "*Relevant names* are all names except those that are internal to Triton or new in Triton 3.9.",
    ]
    for place, title in PLACES.items():
        lines += ["", f"## {title}", "", *section(place, known[place], versions)]
    lines += ["", "## Modules out of scope", "", OUT_OF_SCOPE, "", "| module | contents |", "|---|---|"]
    lines += [f"| `triton.{area}` | {content} |" for area, content in AREAS.items()]
    return "\n".join(lines) + "\n"


def section(place: str, known: Mapping[str, tuple[str, ...]], versions: Sequence[str]) -> list[str]:
    """A paragraph with the names that run everywhere, and a table of the others."""
    states = {name: status(place, name) for name in known}
    runs = [spelled(name, known[name], versions) for name, state in states.items() if state.cpu and state.gpu]
    lines = ["These names run on CPUs and GPUs: " + ", ".join(runs) + "."]
    others = {name: state for name, state in states.items() if not (state.cpu and state.gpu)}
    if others:
        lines += ["", "| name | CPU | GPU | reason |", "|---|---|---|---|"]
    for name, state in others.items():
        marks = " | ".join("yes" if mark else "no" for mark in (state.cpu, state.gpu))
        lines.append(f"| {spelled(name, known[name], versions)} | {marks} | {state.reason} |")
    return lines


def spelled(name: str, having: Sequence[str], versions: Sequence[str]) -> str:
    """A name, with the versions that have it unless all do."""
    return f"`{name}`" if len(having) == len(versions) else f"`{name}` ({', '.join(having)})"


if __name__ == "__main__":
    sys.exit(main())
