"""Cycles by recursion; all candidates in a list, of which `max` takes one."""


class Group:
    def bytes(self):
        if self.is_call:
            return 0
        steps = hint(numel(self.space.sizes))
        places = {}
        for line in self.body.lines:
            if line.op == "load":
                places[line.detail, line.place] = min(hint(line.detail.numel), steps) * line.detail.dtype.itemsize
        operands = [x for member in self.members if isinstance(member, Product) for x in member.inputs]
        return sum(places.values()) + sum(hint(x.nbytes) for x in [*operands, *self.stored])


def can_be_free(tensor, uses):
    by_kernels = all(not isinstance(reader, (Product, Called)) for reader in uses.readers.get(tensor, ()))
    return by_kernels and isinstance(tensor, Computed) and tensor.into is None and tensor not in uses.outputs


def recompute_cheap(uses):
    for tensor in uses.order:
        if can_be_free(tensor, uses):
            cost = [hint(source.nbytes) for source in uses.sources[tensor]]
            tensor.is_free = sum(cost) < hint(tensor.nbytes)


class Partition:
    def would_cycle(self, a, b):
        known = {}

        def reaches(group):
            if group in (a, b):
                return True
            if group not in known:
                known[group] = any([reaches(source) for source in self.sources(group)])
            return known[group]

        return any(reaches(group) for group in (self.sources(a) | self.sources(b)) - {a, b})

    def fuse(self):
        candidates = True
        while candidates:
            candidates = []
            for a, b in self.neighbors():
                group = self.merged(a, b)
                if group is not None and not self.would_cycle(a, b):
                    candidates.append((self.gain(a, b, group), group))
            if candidates:
                _, group = max(candidates, key=lambda candidate: candidate[0])
                for tensor in group.members:
                    self.home[tensor] = group
