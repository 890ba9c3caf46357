"""Small kernels that wait for the same kernel become one, because a launch costs more than their work. (Given.)

For example, two sums of columns are added up in pieces by one kernel, and one more kernel adds up the pieces of both.

Source: `ForeachKernelSchedulerNode` in PyTorch's `torch/_inductor/scheduler.py`.
"""

from __future__ import annotations

import itertools
from collections import defaultdict

from mini_triton.fusion.body import CannotFuse
from mini_triton.fusion.grouping import Group, Partition, plan_group

SMALL = 2**20
"""A GPU moves so many bytes in less than a microsecond."""


def join_small(partition: Partition) -> None:
    """Merge pairs of small groups with the same loops and a common source."""
    waiting: defaultdict[Group, list[Group]] = defaultdict(list)
    for group in partition.groups:
        if 0 < group.bytes <= SMALL:
            for source in partition.sources(group):
                waiting[source].append(group)
    for siblings in waiting.values():
        for pair in itertools.combinations([group.members[0] for group in siblings], 2):
            a, b = (partition.home[member] for member in pair)
            if a is b or a.space != b.space or partition.is_read(a, b) or partition.would_cycle(a, b):
                continue
            try:
                group = plan_group(a.members + b.members, partition.uses)
            except CannotFuse:
                continue
            partition.home.update(dict.fromkeys(group.members, group))
