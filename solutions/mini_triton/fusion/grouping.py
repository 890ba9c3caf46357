"""Which tensors one kernel computes: a partition of the graph that saves memory traffic.

At first, every tensor has its own kernel. Two kernels are merged if the same loops can compute both, no path from one
to the other leads through a third kernel, and the merged kernel moves fewer bytes than the two kernels. The pair with
the largest gain is merged first.

Source: Kaufman et al. on XLA's fusion; `Scheduler.fuse_nodes` in PyTorch's `torch/_inductor/scheduler.py`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeGuard

from mini_triton.fusion.body import Body, CannotFuse, Space, Value, elements_in, index_in, space_of
from mini_triton.fusion.clusters import Pair, clusters_in
from mini_triton.fusion.indexing import Index, numel
from mini_triton.fusion.tensors import Called, Computed, Product, Reduction, Stored, Tensor, hint, overwritten_by
from mini_triton.fusion.tiles import ENOUGH, SHORTEST, fits, largest_row

MOST_TENSORS = 64
"""The largest number of tensors that one kernel computes. More would not fit into registers."""


@dataclass(eq=False)
class Group:
    """The tensors that one kernel computes, in the order of the graph; or a single tensor that PyTorch computes."""

    members: list[Tensor]
    space: Space
    body: Body
    stored: list[Tensor] = field(default_factory=list)  # the members needed outside the group
    across: dict[Reduction, Value] = field(default_factory=dict)  # sums over loops that `space` does not reduce

    @property
    def is_call(self) -> bool:
        return isinstance(self.members[0], Called)

    @functools.cached_property
    def bytes(self) -> int:
        """The number of bytes that the kernel reads and writes; 0 for a call, which is never fused.

        The count of reads is rough: it does not ask which elements of a tensor are read. If x and y have the shape
        (4, 6), z has (6,), and s has (16, 16), these elements count:

            x + x                        24        x[:1] + z     6 + 6
            x + x.t().reshape(4, 6)      24 + 24   x + y[:1]     24 + 24
            slice_scatter(x, x[1:3], …)  24        s @ s         256 + 256
            x + z                        24 + 6    s[:4] @ s     64 + 256

        In `slice_scatter(x, x[1:3], 0, 1, 3)`, each step reads one place, on either condition.
        """
        if self.is_call:
            return 0
        # [task 12.3] `hint` turns symbolic sizes into numbers.
        steps = hint(numel(self.space.sizes))
        loads = {(line.detail, line.place) for line in self.body.lines if line.op == "load"}
        read = sum(min(hint(tensor.numel), steps) * tensor.dtype.itemsize for tensor, _ in loads)
        for product in self.members:
            if isinstance(product, Product):
                read += sum(hint(operand.nbytes) for operand in product.inputs)
        return read + sum(hint(tensor.nbytes) for tensor in self.stored)
        # [end]


@dataclass
class Uses:
    """Sources and readers of each tensor. In place of a free tensor, its own sources and readers are listed."""

    order: list[Tensor]  # tensors that are not free, each after its sources
    sources: dict[Tensor, list[Tensor]]
    readers: dict[Tensor, set[Tensor]]
    outputs: dict[Tensor, None]

    @functools.cached_property
    def place(self) -> dict[Tensor, int]:
        """The place of each tensor in `order`."""
        return {tensor: place for place, tensor in enumerate(self.order)}


def find_uses(outputs: Iterable[Tensor]) -> Uses:
    """Walk from the outputs to everything that must be computed."""
    uses = Uses([], {}, {}, dict.fromkeys(outputs))

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

    for output in outputs:
        visit(output)
    for tensor in uses.order:
        for target in overwritten_by(tensor):  # readers of the old values come first
            uses.sources[tensor] += [reader for reader in uses.readers.get(target, ()) if reader is not tensor]
    return uses


def copy_before_overwriting(uses: Uses) -> list[Tensor]:
    """Tensors to store first, so that no argument is overwritten with elements of an argument that is itself
    overwritten.

    In a swap, `x.copy_(y)` and `y.copy_(x)` would each have to come before the other. (Given.)
    """
    overwritten = overwritten_arguments(uses)
    copies: list[Tensor] = []
    for tensor in uses.order:
        if isinstance(tensor, Computed) and tensor.into and not overwritten.isdisjoint(uses.sources[tensor]):
            copies.append(dataclasses.replace(tensor, name=f"{tensor.name}_copy", into=None))
            tensor.inputs = (copies[-1],)
            tensor.at = functools.partial(value_of, copies[-1])
    return copies


def value_of(tensor: Tensor, body: Body, index: Index) -> Value:
    return body.value(tensor, index)


def overwritten_arguments(uses: Uses) -> set[Tensor]:
    return {target for tensor in uses.order for target in overwritten_by(tensor)}


def recompute_cheap(uses: Uses) -> None:
    """Set `is_free` for tensors that their readers should compute instead of loading, to move fewer bytes.

    Examples are a mask made from indices, an fp32 tensor cast to fp64, and an outer sum. In `(z[:, None] + z) * 2 * w`,
    the sum is free, but the product by 2 is not: recomputing it counts as reading the sum. Symbolic sizes count as
    their `hint`.
    """
    # [task 12.3] Mark the tensors.
    for tensor in uses.order:
        if can_be_free(tensor, uses):
            read = sum(hint(source.nbytes) for source in uses.sources[tensor])
            tensor.is_free = read < hint(tensor.nbytes)
    # [end]


def can_be_free(tensor: Tensor, uses: Uses) -> TypeGuard[Computed]:
    """Whether a tensor may be free, which means that its readers compute it instead of loading it.

    Elements of a `Computed` tensor can be computed anywhere. The tensor may nevertheless have to be in memory, because
    something other than a generated kernel needs it, or a kernel that reads its elements many times.
    """
    # [task 12.3] Who needs this tensor in memory?
    if not isinstance(tensor, Computed) or tensor in uses.outputs or tensor.into is not None:
        return False
    return not any(isinstance(reader, Product | Called) for reader in uses.readers.get(tensor, ()))
    # [end]


def plan_group(members: Iterable[Tensor], uses: Uses) -> Group:
    """Plan the kernel that computes these tensors. Raises `CannotFuse` if no loops can compute them."""
    chosen = sorted(members, key=uses.place.__getitem__)
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
    """A sort key: reductions precede other spaces, and more loops precede fewer.

    The first of two spaces can compute whatever the second can.
    """
    return not any(space.reduced), -len(space.sizes)


def is_stored(tensor: Tensor, members: set[Tensor], uses: Uses) -> bool:
    """Whether anything outside the kernel needs this member. (Given.)"""
    overwrites = isinstance(tensor, Computed) and tensor.into is not None
    return overwrites or tensor in uses.outputs or not uses.readers.get(tensor, set()) <= members


def write_body(group: Group, uses: Uses) -> Group:
    """Write the body: each step computes an element of each stored tensor, and everything needed for it. (Given.)"""
    members = set(group.members)
    group.stored = [tensor for tensor in group.members if is_stored(tensor, members, uses)]
    for tensor in group.stored:
        if isinstance(tensor, Reduction) and is_across(tensor, group.space):
            group.across[tensor] = group.body.value(tensor.source, elements_in(group.space, tensor.source))
        else:
            group.body.value(tensor, index_in(group.space, tensor))
    check_overwriting(group, uses)
    return group


def is_across(tensor: Reduction, space: Space) -> bool:
    """Whether a kernel that reduces rows can also add up columns: each program adds up the rows of one piece.

    Layer norm needs this for its gradients: one gradient is computed row by row, and another is a sum of columns.
    (Given.)
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


def check_overwriting(group: Group, uses: Uses) -> None:
    """Check that no step reads an element of an argument that another step, or an earlier loop, overwrites. (Given.)"""
    for tensor in group.members:
        for target in overwritten_by(tensor):
            index = index_in(group.space, tensor)
            loads = [line for line in group.body.lines if line.op == "load" and line.detail is target]
            if any(line.place != target.offset(index) for line in loads):
                raise CannotFuse(f"{target.name} is read and overwritten at different places")
            if any(isinstance(reader, Product) and target in uses.sources[reader] for reader in group.members):
                raise CannotFuse(f"a product reads {target.name} more than once")
            if is_read_later(group.body, target, group.body.value(tensor, index).number):
                raise CannotFuse(f"{target.name} is overwritten in a loop and read in a later loop")


def is_read_later(body: Body, target: Tensor, number: int) -> bool:
    """Whether a loop after that of line `number` loads the target; long rows need a loop for each level."""
    if all(line.op != "reduce" for line in body.lines):
        return False  # there is only one loop
    reading: list[bool] = []  # for each line, whether its loop loads the target to compute it
    for line in body.lines:
        loads = line.op == "load" and line.detail is target
        reading.append(loads or line.op != "reduce" and any(reading[n] for n in line.needed))
    levels = body.levels()
    return any(level > levels[number] and reads for level, reads in zip(levels, reading, strict=True))


def remember_cycles(would_cycle: Callable[[Partition, Group, Group], bool]) -> Callable[..., bool]:
    """Ask about a pair until it would cycle: no merge of other groups changes that. (Given.)"""

    @functools.wraps(would_cycle)
    def ask(self: Partition, a: Group, b: Group) -> bool:
        if (a, b) not in self.cycles and would_cycle(self, a, b):
            self.cycles.add((a, b))
        return (a, b) in self.cycles

    return ask


class Partition:
    """Groups of tensors, and the dependences between them."""

    def __init__(self, uses: Uses) -> None:
        self.uses = uses
        self.home: dict[Tensor, Group] = {}
        for tensor in uses.order:
            self.home[tensor] = plan_group([tensor], uses)
        self.clusters = clusters_in(uses)[::-1]
        self.known: dict[Group, set[Group]] = {}
        self.savings: dict[tuple[Group, Group], Group | None] = {}
        self.cycles: set[tuple[Group, Group]] = set()
        self.read: dict[tuple[Group, Group], bool] = {}

    @property
    def groups(self) -> list[Group]:
        return list(dict.fromkeys(self.home.values()))

    def sources(self, group: Group) -> set[Group]:
        """The groups that must run before this group."""
        found = self.known.get(group)
        if found is None or any(self.home.get(source.members[0]) is not source for source in found):
            found = {self.home[s] for tensor in group.members for s in self.uses.sources[tensor] if s in self.home}
            self.known[group] = found = found - {group}
        return set(found)

    @remember_cycles
    def would_cycle(self, a: Group, b: Group) -> bool:
        """Whether `a` or `b` needs the other through a third group. The merged kernel would then wait for itself.

        The result does not depend on the order of `a` and `b`, nor on whether one of them reads the other directly.
        """
        # [task 12.3] Find out.
        pending = [group for group in (self.sources(a) | self.sources(b)) if group not in (a, b)]
        seen = set(pending)
        while pending:
            for source in self.sources(pending.pop()):
                if source in (a, b):
                    return True
                if source not in seen:
                    seen.add(source)
                    pending.append(source)
        return False
        # [end]

    def merged(self, a: Group, b: Group) -> Group | None:
        """The two groups merged into one kernel, if this is possible and moves fewer bytes; otherwise None."""
        if (a, b) not in self.savings:
            try:
                group = None if a.is_call or b.is_call else plan_group(a.members + b.members, self.uses)
            except CannotFuse:
                group = None
            self.savings[a, b] = group if group and group.bytes < a.bytes + b.bytes else None
        return self.savings[a, b]

    def neighbors(self) -> list[tuple[Group, Group]]:
        """Pairs of groups that share data: one reads a result of the other, or both read the same tensor.

        The pairs are from one cluster, until no pair in it can be merged; at the end, the list is empty. As long as a
        group of the cluster can be merged with its reader, only pairs of a group and its reader are listed.
        """
        while self.clusters:
            found: dict[tuple[Group, Group], Pair] = {}
            for t, u in self.clusters[-1]:
                a, b = self.home[t], self.home[u]
                if a is not b and (b, a) not in found:
                    found.setdefault((a, b), (t, u))
            self.clusters[-1] = list(found.values())  # groups only grow, so one pair of tensors stands for its groups
            readers = [(a, b) for a, b in found if self.is_read(a, b)]
            for pairs in (readers, list(found)):
                if any(self.merged(a, b) and not self.would_cycle(a, b) for a, b in pairs):
                    return pairs
            self.clusters.pop()
        return []

    def is_read(self, a: Group, b: Group) -> bool:
        """Whether one of two groups reads a result of the other."""
        if (a, b) not in self.read:
            self.read[a, b] = a in self.sources(b) or b in self.sources(a)
        return self.read[a, b]

    def gain(self, a: Group, b: Group, group: Group) -> tuple[bool, int]:
        """The gain of merging `a` and `b` into `group`, as a sort key. (Given.)

        A group and its reader rank above two groups that only read the same tensor, because merging a group with its
        reader may keep a tensor out of memory. Among equals, the bytes saved decide.
        """
        return self.is_read(a, b), a.bytes + b.bytes - group.bytes

    def fuse(self) -> None:
        """Merge neighboring groups greedily, until no merged kernel would move fewer bytes than its two groups.

        The pair with the largest gain goes first; of several such pairs, the first in `neighbors()`. Afterwards, `home`
        names the group of each tensor.
        """
        # [task 12.3] Given: `gain`, `merged`, `neighbors`.
        while True:
            best: tuple[tuple[bool, int], Group] | None = None
            for a, b in self.neighbors():
                group = self.merged(a, b)
                if group is None or (best and self.gain(a, b, group) <= best[0]) or self.would_cycle(a, b):
                    continue
                best = self.gain(a, b, group), group
            if best is None:
                return
            self.home.update(dict.fromkeys(best[1].members, best[1]))
        # [end]

    def recompute(self) -> None:
        """Recompute a tensor in every kernel that reads it, if this moves fewer bytes than storing it. (Given.)

        This step runs after fusion, when the reads of each kernel are known. For example, a normalized row does not
        need memory if its readers also load the row itself.
        """
        for tensor in list(self.uses.order):
            if tensor in self.home and tensor in self.home[tensor].stored and can_be_free(tensor, self.uses):
                self.make_free(tensor)

    def make_free(self, tensor: Computed) -> None:
        """Make a tensor free, with everything that its kernel computes for it, if that moves fewer bytes. (Given.)"""
        home = self.home[tensor]
        chain, read = [tensor], dict.fromkeys(self.uses.sources[tensor])
        while pending := [s for s in read if s in home.members and s not in home.stored and isinstance(s, Computed)]:
            chain += pending
            read = dict.fromkeys(s for t in chain for s in self.uses.sources[t] if s not in chain)
        if not overwritten_arguments(self.uses).isdisjoint(read):
            return  # its readers would have to run before the argument is overwritten
        touched = list(dict.fromkeys(self.home[t] for t in (tensor, *self.uses.readers[tensor])))
        loads = [
            {line.detail for line in group.body.lines if line.op == "load"} for group in touched if group is not home
        ]
        if sum(hint(s.nbytes) for known in loads for s in read if s not in known) >= hint(tensor.nbytes) * len(touched):
            return  # recomputing reads more than it saves
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
        """The groups in an order that respects their dependences."""
        result: dict[Group, None] = {}

        def visit(group: Group) -> None:
            if group not in result:
                for source in sorted(self.sources(group), key=lambda g: self.uses.place[g.members[0]]):
                    visit(source)
                result[group] = None

        for group in self.groups:
            visit(group)
        return list(result)
