"""Task 9.3: folding and peepholes simplify small functions at least as far as real Triton's passes."""

import functools

import pytest
from mini_triton.ir.core import Operation
from mini_triton.ir.printer import print_module
from mini_triton.transforms import peepholes
from mini_triton.transforms.folding import FOLDING

from tests.checks import described
from tests.support.m09_passes.rewrites import rewriting
from tests.support.m09_passes.snippets import Snippet, left_by_triton, size, snippets

SNIPPETS = snippets()


@functools.cache
def theirs() -> dict[str, Operation]:
    """All snippets after real Triton's canonicalizer."""
    texts = [text for snippets in SNIPPETS.values() for snippet in snippets for text in snippet.texts]
    return left_by_triton(tuple(texts))


@pytest.mark.parametrize(("group", "snippet"), [(name, each) for name in SNIPPETS for each in SNIPPETS[name]], ids=str)
def test_snippets(group: str, snippet: Snippet) -> None:
    """Folding and a group's rules leave at most as many operations as real Triton, and as promised."""
    rules = described(f"{group}()", getattr(peepholes, group)).succeeds("a list of rules")
    for text in snippet.texts:
        call = rewriting(text, [*FOLDING, *rules])
        call.words = f"Rewriting with FOLDING and {group}()"
        (ours,), least = call.left.body.operations, theirs()[text]
        got, most = size(ours), size(least)
        left = f"{got[0]} operations, {got[1]} elements:\n{print_module(ours)}"
        if snippet.promised is not None and got[0] > snippet.promised:
            call.refuse(
                f"at most {snippet.promised} operations",
                left,
                f"our rules promise fewer operations than real Triton's {most[0]}",
            )
        if got > most:
            expected = f"at most {most[0]} operations, {most[1]} elements"
            call.refuse(expected, left, f"real Triton leaves\n{print_module(least)}")
