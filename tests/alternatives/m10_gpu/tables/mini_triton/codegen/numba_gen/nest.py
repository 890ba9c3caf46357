class AffineExpr:
    def ends(self, ranges: Mapping[Name, tuple[Polynomial, Polynomial]]) -> tuple[Polynomial, Polynomial]:
        amounts = [(step * ranges[name][0], step * (ranges[name][1] - 1)) for name, step in self.steps.items()]
        low, high = (sum((choose(*pair) for pair in amounts), self.base) for choose in (least, greatest))
        return low, high


class LoopBody:
    def loops(self, level: int) -> list[Statement]:
        found: list[Statement] = []
        for number in reversed(range(level, len(self.levels))):
            found = [*self.levels[number], *found]
            if found:
                variable = self.variables[number - 1]
                found = [For(variable, self.bounds(variable), found)]
        return found
