"""Random kernels beside real Triton's front end: it makes the same of them as ours, up to its canonicalizer and CSE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tests.oracles import records, triton
from tests.oracles.triton import Source
from tests.support.m05_frontend.compilation import fail, outcome, shown, without_jumps
from tests.support.m05_frontend.difference import difference
from tests.support.m05_frontend.random_kernels.writing import Kernel
from tests.support.m05_frontend.ttir_text import Line, parse


def judge(kernels: Sequence[Kernel]) -> None:
    """Fail where our front end makes something else of one of these kernels than real Triton's."""
    __tracebackhide__ = True
    sources = [to_source(kernel) for kernel in kernels]
    for source, theirs in zip(sources, triton.frontends(sources), strict=True):
        assert theirs, f"{shown(source)}\nReal Triton refuses this kernel: {theirs.error}: {theirs.diagnostic}"
        ours = outcome(source)
        if isinstance(ours, Exception):
            fail(source, "a module", ours, "real Triton accepts this")
        _compare(source, ours, without_jumps(source, theirs))


def to_source(kernel: Kernel, **more: Any) -> Source:
    """The kernel as a question to real Triton."""
    return Source(kernel.source, kernel.name, kernel.signature, kernel.constexprs, kernel.divisible, **more)


def _compare(source: Source, ours: str, theirs: str) -> None:
    __tracebackhide__ = True
    accepted = triton.accepts(ours)
    if not accepted:
        fail(source, "IR that real Triton accepts", ours, accepted.diagnostic)
    if triton.version() != records.LEADING:
        return  # the others mean the same, but some of their operations are others
    canonical = triton.canonical(ours)
    if found := difference(canonical, theirs):
        raise AssertionError(f"{shown(source)}\n{found}\n  because   that is what real Triton makes of it")
    got, expected = operations(canonical), operations(theirs)
    if got != expected:
        fail(source, str(dict(expected - got)), str(dict(got - expected)), "real Triton's has the former in its stead")


def operations(text: str) -> Counter[str]:
    """How often each operation occurs in the kernel. Real Triton leaves helpers behind that nothing calls."""
    return Counter(line.name for line in _all(parse(text)[1]))


def _all(lines: Iterable[Line]) -> Iterator[Line]:
    for line in lines:
        yield line
        for region in line.regions:
            yield from _all(region.lines)
