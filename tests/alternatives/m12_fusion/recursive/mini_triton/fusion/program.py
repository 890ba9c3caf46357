"""Backwards: the first reader that is met is the last one."""


class ProgramWriter:
    def last_uses(self, results):
        needed = {materialize(x) for x in results if isinstance(x, Tensor)}
        mine = {tensor for group in self.groups for tensor in group.stored}
        found = {}
        for number in reversed(range(len(self.groups))):
            sources = {x for member in self.groups[number].members for x in self.partition.uses.sources[member]}
            found[number] = [x for x in sources if x in mine and x not in needed]
            needed |= sources
        return found
