"""Which tensors are computed by one kernel: a partition of the graph, found by the bytes that it saves.

At first every tensor has a kernel of its own. Two kernels become one if the same loops can compute both, if no path
through a third kernel leads from one to the other, and if fewer bytes are moved than before. The pair that gains most
goes first.

Source: Kaufman et al. on XLA's fusion; `Scheduler.fuse_nodes` in PyTorch's `torch/_inductor/scheduler.py`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeGuard

from mini_triton.fusion.body import Body, CannotFuse, Space, Value, elements_in, index_in, space_of
from mini_triton.fusion.indexing import numel
from mini_triton.fusion.tensors import Called, Computed, Product, Reduction, Stored, Tensor, hint
from mini_triton.fusion.tiles import ENOUGH, SHORTEST, fits, largest_row

MOST_TENSORS = 64
"""In one kernel: more would not fit into registers."""


@dataclass(eq=False)
class Group:
    """Tensors that one kernel computes, in the order of the graph; or one that PyTorch computes."""

    members: list[Tensor]
    space: Space
    body: Body
    stored: list[Tensor] = field(default_factory=list)  # the members that are needed elsewhere
    across: dict[Reduction, Value] = field(default_factory=dict)  # sums over other loops than `space` reduces, if any

    @property
    def is_call(self) -> bool:
        return isinstance(self.members[0], Called)

    @functools.cached_property
    def bytes(self) -> int:
        """How many bytes the kernel reads and writes; 0 for a call, which is never fused.

        A `load` of `body` reads the elements of its tensor, or fewer if the loops have fewer steps; a product reads its
        operands; what is `stored` is written.
        """
        if self.is_call:
            return 0
        # Task 12.3: Each element that is read counts once, however often its value is used. Sizes count as their
        # `hint`; a step of the loops is one place in `space.sizes`.
        raise NotImplementedError("Task 12.3: Which kernels to fuse")


@dataclass
class Uses:
    """Who needs what: tensors by the tensors that read them, across those that are free."""

    order: list[Tensor]  # those that are not free, each after its sources
    sources: dict[Tensor, list[Tensor]]
    readers: dict[Tensor, set[Tensor]]
    outputs: dict[Tensor, None]


def find_uses(outputs: Iterable[Tensor]) -> Uses:
    """Walk from the outputs to everything that must be computed."""
    uses = Uses([], {}, {}, dict.fromkeys(outputs))
    overwriting: list[Computed] = []

    def sources_of(tensor: Tensor) -> list[Tensor]:
        found: list[Tensor] = []
        for source in tensor.inputs:
            free = isinstance(source, Computed) and source.is_free and source not in uses.outputs
            found += sources_of(source) if free else [source]
        return list(dict.fromkeys(found))

    def visit(tensor: Tensor) -> None:
        if tensor in uses.sources:
            return
        uses.sources[tensor] = sources_of(tensor)
        for source in uses.sources[tensor]:
            visit(source)
            uses.readers.setdefault(source, set()).add(tensor)
        if type(tensor) is not Stored:
            uses.order.append(tensor)
        if isinstance(tensor, Computed) and tensor.into is not None:
            overwriting.append(tensor)

    for output in outputs:
        visit(output)
    for tensor in overwriting:  # what reads the old values goes first
        assert tensor.into is not None
        uses.sources[tensor] += [reader for reader in uses.readers.get(tensor.into, ()) if reader is not tensor]
    return uses


def recompute_cheap(uses: Uses) -> None:
    """Make free what costs fewer bytes to compute again than to load: a mask made of indices, a widened copy."""
    # Task 12.3: Computing a tensor again loads all that `uses.sources` has for it. Sizes count as their `hint`.
    raise NotImplementedError("Task 12.3: Which kernels to fuse")


def can_be_free(tensor: Tensor, uses: Uses) -> TypeGuard[Computed]:
    """Whether readers may compute a tensor in place of loading it.

    Outputs are stored in any case, and so are operands of products and calls, which read them more than once or whole,
    and what overwrites an argument (`into`). Only tensors that are `Computed` can be free.
    """
    # Task 12.3: `uses` knows the outputs, and the readers of a tensor if it has any.
    raise NotImplementedError("Task 12.3: Which kernels to fuse")


def plan_group(members: Iterable[Tensor], uses: Uses) -> Group:
    """The kernel that computes these tensors. Raises `CannotFuse` if no loops do."""
    chosen = sorted(members, key=uses.order.index)
    if isinstance(chosen[0], Called):
        nothing = Space((), ())
        return Group(chosen, nothing, Body(nothing, set()), stored=chosen)
    if len(chosen) > MOST_TENSORS or len({tensor.device for tensor in chosen}) > 1:
        raise CannotFuse("too many tensors")
    if sum(isinstance(tensor, Product) for tensor in chosen) > 1:
        raise CannotFuse("two products")
    if any(isinstance(tensor, Product) for tensor in chosen):
        if any(isinstance(tensor, Reduction) for tensor in chosen):
            raise CannotFuse("a product and a reduction")
        (product,) = (tensor for tensor in chosen if isinstance(tensor, Product))
        if not set(chosen).isdisjoint(uses.sources[product]):
            raise CannotFuse("an operand of a product is read more than once")
        spaces = {space_of(product)}
    else:
        fixed = [tensor for tensor in chosen if isinstance(tensor, Reduction) or is_stored(tensor, set(chosen), uses)]
        spaces = {space_of(tensor) for tensor in fixed}
    reason = CannotFuse("no loops")
    for space in sorted(spaces, key=rank):
        try:
            return write_body(Group(chosen, space, Body(space, set(chosen))), uses)
        except CannotFuse as error:
            reason = error
    raise reason


def rank(space: Space) -> tuple[bool, int]:
    """Spaces with reductions first, then those with most loops: they can compute what others can."""
    return not any(space.reduced), -len(space.sizes)


def is_stored(tensor: Tensor, members: set[Tensor], uses: Uses) -> bool:
    """Whether something outside of the kernel needs a member. (Given.)"""
    overwrites = isinstance(tensor, Computed) and tensor.into is not None
    return overwrites or tensor in uses.outputs or not uses.readers.get(tensor, set()) <= members


def write_body(group: Group, uses: Uses) -> Group:
    """Write the body: a step computes what is stored, and all that it needs. (Given.)"""
    members = set(group.members)
    group.stored = [tensor for tensor in group.members if is_stored(tensor, members, uses)]
    for tensor in group.stored:
        if isinstance(tensor, Reduction) and is_across(tensor, group.space):
            group.across[tensor] = group.body.value(tensor.source, elements_in(group.space, tensor.source))
        else:
            group.body.value(tensor, index_in(group.space, tensor))
    check_overwriting(group)
    return group


def is_across(tensor: Reduction, space: Space) -> bool:
    """Whether a kernel that reduces rows can add up pieces of columns as well: each program has the rows of a piece.

    The gradients of a layer norm are of this kind: one is computed row by row, another is a sum of columns. (Given.)
    """
    rows, columns = space.extent(False), space.extent(True)
    if tensor.kind != "sum" or tensor.axes != (1,) or len(tensor.source.shape) != 3 or not any(space.reduced):
        return False
    pieces, length, width = tensor.source.shape
    if width != columns or pieces * length != rows or not (rows.is_number and columns.is_number):
        return False
    if pieces < ENOUGH or columns < SHORTEST:
        return False
    return list(space.reduced) == sorted(space.reduced) and fits(columns, True, largest_row(tensor.device, 1))


def check_overwriting(group: Group) -> None:
    """An argument may be overwritten only element by element: what is read of it is what is written. (Given.)"""
    for tensor in group.members:
        target = getattr(tensor, "into", None)
        if target is None:
            continue
        place = target.offset(index_in(group.space, tensor))
        if any(line.op == "load" and line.detail is target and line.place != place for line in group.body.lines):
            raise CannotFuse(f"{target.name} is read at other places than it is overwritten")


class Partition:
    """Groups of tensors, and which of them depend on which."""

    def __init__(self, uses: Uses) -> None:
        self.uses = uses
        self.home: dict[Tensor, Group] = {}
        for tensor in uses.order:
            self.home[tensor] = plan_group([tensor], uses)
        self.savings: dict[frozenset[Group], Group | None] = {}

    @property
    def groups(self) -> list[Group]:
        return list(dict.fromkeys(self.home.values()))

    def sources(self, group: Group) -> set[Group]:
        """The groups that must run before this one."""
        found = {self.home[s] for tensor in group.members for s in self.uses.sources[tensor] if s in self.home}
        return found - {group}

    def would_cycle(self, a: Group, b: Group) -> bool:
        """Whether one of the two needs the other by way of a third: as one kernel they would wait for themselves.

        It does not matter which of the two comes first, nor whether one reads the other directly.
        """
        # Task 12.3: `sources` are the groups that a group needs at once; they need others.
        raise NotImplementedError("Task 12.3: Which kernels to fuse")

    def merged(self, a: Group, b: Group) -> Group | None:
        """The two as one kernel, if that is possible and moves fewer bytes."""
        pair = frozenset((a, b))
        if pair not in self.savings:
            try:
                group = None if a.is_call or b.is_call else plan_group(a.members + b.members, self.uses)
            except CannotFuse:
                group = None
            self.savings[pair] = group if group and group.bytes < a.bytes + b.bytes else None
        return self.savings[pair]

    def neighbours(self) -> list[tuple[Group, Group]]:
        """Pairs that have something to share: one reads what the other computes, or both read the same."""
        pairs: dict[tuple[Group, Group], None] = {}
        for tensor, readers in self.uses.readers.items():
            near = sorted({tensor, *readers} & self.home.keys(), key=self.uses.order.index)
            pairs |= dict.fromkeys(itertools.combinations(dict.fromkeys(self.home[t] for t in near), 2))
        return list(pairs)

    def gain(self, a: Group, b: Group, group: Group) -> tuple[bool, int]:
        """What is gained by `group` in place of the two, to compare by. (Given.)

        A group and one that reads it go before two that only read the same: what is written and read once may then need
        no memory at all. After that the bytes count.
        """
        return a in self.sources(b) or b in self.sources(a), a.bytes + b.bytes - group.bytes

    def fuse(self) -> None:
        """Merge the pair with the largest gain, until no pair gains. `home` says in the end which group is whose."""
        # Task 12.3: `neighbours` has the pairs to look at, `merged` the result, if it pays, and `gain` how much.
        raise NotImplementedError("Task 12.3: Which kernels to fuse")

    def recompute(self) -> None:
        """Compute tensors again in every kernel that reads them, where that moves fewer bytes. (Given.)

        Now it is known what kernels read in any case: a normalized row needs no memory if its readers have the row.
        """
        for tensor in list(self.uses.order):
            if tensor in self.home and tensor in self.home[tensor].stored and can_be_free(tensor, self.uses):
                self.make_free(tensor)

    def make_free(self, tensor: Computed) -> None:
        """Make a tensor free, with what its own kernel computes for it, if that moves fewer bytes. (Given.)"""
        home = self.home[tensor]
        chain, read = [tensor], dict.fromkeys(self.uses.sources[tensor])
        while pending := [s for s in read if s in home.members and s not in home.stored and isinstance(s, Computed)]:
            chain += pending
            read = dict.fromkeys(s for t in chain for s in self.uses.sources[t] if s not in chain)
        touched = list(dict.fromkeys(self.home[t] for t in (tensor, *self.uses.readers[tensor])))
        loads = [
            {line.detail for line in group.body.lines if line.op == "load"} for group in touched if group is not home
        ]
        if sum(hint(s.nbytes) for known in loads for s in read if s not in known) >= hint(tensor.nbytes) * len(touched):
            return  # more is read anew than is saved
        before = self.uses
        for link in chain:
            link.is_free = True
        self.uses = find_uses(before.outputs)
        members = [[t for t in group.members if t not in chain] for group in touched]
        try:
            groups = [plan_group(part, self.uses) for part in members if part]
        except CannotFuse:
            groups = []
        if groups and sum(group.bytes for group in groups) < sum(group.bytes for group in touched):
            self.home = {t: group for t, group in self.home.items() if t not in chain}
            self.home.update((t, group) for group in groups for t in group.members)
        else:
            self.uses = before
            for link in chain:
                link.is_free = False

    def ordered(self) -> list[Group]:
        """The groups in an order in which they can run."""
        result: dict[Group, None] = {}

        def visit(group: Group) -> None:
            if group not in result:
                for source in sorted(self.sources(group), key=lambda g: self.uses.order.index(g.members[0])):
                    visit(source)
                result[group] = None

        for group in self.groups:
            visit(group)
        return list(result)
