"""Which tensors may share a kernel: pairs of tensors, in clusters that fusion treats one after another. (Given.)

In a model, most clusters lie between two products or calls. The time of fusion grows with the square of a cluster's
size, but only in proportion to the number of clusters.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mini_triton.fusion.tensors import Called, Product, Tensor

if TYPE_CHECKING:
    from mini_triton.fusion.grouping import Uses

Pair = tuple[Tensor, Tensor]


def clusters_in(uses: Uses) -> list[list[Pair]]:
    """The connected components of the pairs that may share a kernel."""
    pairs = list(dict.fromkeys(pairs_in(uses)))
    parents = {tensor: tensor for tensor in uses.order}

    def root(tensor: Tensor) -> Tensor:
        while parents[tensor] is not tensor:
            parents[tensor] = tensor = parents[parents[tensor]]
        return tensor

    for t, u in pairs:
        parents[root(t)] = root(u)
    clusters: defaultdict[Tensor, list[Pair]] = defaultdict(list)
    for t, u in pairs:
        clusters[root(t)].append((t, u))
    return list(clusters.values())


def pairs_in(uses: Uses) -> Iterator[Pair]:
    """Pairs that share data and may share a kernel: one reads the other, or both read a third tensor."""
    places, apart = uses.place, separated(uses)
    for tensor, readers in uses.readers.items():
        near = [t for t in {tensor, *readers} & places.keys() if not isinstance(t, Called)]
        for t, u in itertools.combinations(sorted(near, key=places.__getitem__), 2):
            if not apart[u] >> places[t] & 1:
                yield t, u


def separated(uses: Uses) -> dict[Tensor, int]:
    """For each tensor, earlier tensors that can never share its kernel: a number with a bit for each tensor's place.

    A call separates the tensors that it needs from those that need it, because their kernel would wait for itself. So
    does a product, because its operands must be in memory.
    """
    needed: dict[Tensor, int] = {}
    apart: dict[Tensor, int] = {}
    for tensor in uses.order:
        needed[tensor] = apart[tensor] = 0
        for source in uses.sources[tensor]:
            if source in needed:
                needed[tensor] |= needed[source] | 1 << uses.place[source]
                apart[tensor] |= apart[source]
        if isinstance(tensor, Called | Product):
            apart[tensor] = needed[tensor]
    return apart
