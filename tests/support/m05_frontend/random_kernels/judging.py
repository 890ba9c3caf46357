"""Random kernels beside real Triton's front end: it makes the same of them as ours, up to its canonicalizer and CSE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tests.oracles import records, triton
from tests.oracles.triton import Source
from tests.support.m05_frontend.compilation import fail, outcome, shown
from tests.support.m05_frontend.difference import difference
from tests.support.m05_frontend.early_returns import structured
from tests.support.m05_frontend.random_kernels.kernel import Kernel
from tests.support.m05_frontend.ttir_text import Line, parse


def judge(kernels: Sequence[Kernel]) -> None:
    """Fail where our front end makes something else of one of these kernels than real Triton's."""
    __tracebackhide__ = True
    sources = [source(kernel) for kernel in kernels]
    for written, theirs in zip(sources, _canonical(sources), strict=True):
        ours = outcome(written)
        if isinstance(ours, Exception):
            fail(written, "a module", ours, "real Triton accepts this")
        _compare(written, ours, theirs)


def source(kernel: Kernel) -> Source:
    """The kernel as a question to real Triton."""
    return Source(kernel.source, kernel.name, kernel.signature, kernel.constexprs, kernel.divisible)


def _canonical(sources: Sequence[Source]) -> Iterator[str]:
    """What real Triton makes of them, without jumps."""
    __tracebackhide__ = True
    for written, made in zip(sources, triton.frontends(sources), strict=True):
        assert made, f"{shown(written)}\nReal Triton refuses this kernel: {made.error}: {made.diagnostic}"
        if " cf." in made.canonical:
            (stages,) = triton.frontends([written], steps=True)
            yield triton.canonical(structured(stages.raw))
        else:
            yield made.canonical


def _compare(written: Source, ours: str, theirs: str) -> None:
    __tracebackhide__ = True
    accepted = triton.accepts(ours)
    if not accepted:
        fail(written, "IR that real Triton accepts", ours, accepted.diagnostic)
    if triton.version() != records.LEADING:
        return  # the others mean the same, but some of their operations are others
    canonical = triton.canonical(ours)
    if found := difference(canonical, theirs):
        raise AssertionError(f"{shown(written)}\n{found}\n  because   that is what real Triton makes of it")
    got, expected = operations(canonical), operations(theirs)
    if got != expected:
        fail(written, str(dict(expected - got)), str(dict(got - expected)), "real Triton's has the former in its stead")


def operations(text: str) -> Counter[str]:
    """How often each operation occurs in the kernel. Real Triton leaves helpers behind that nothing calls."""
    return Counter(line.name for line in _all(parse(text)[1]))


def _all(lines: Iterable[Line]) -> Iterator[Line]:
    for line in lines:
        yield line
        for region in line.regions:
            yield from _all(region.lines)
