class Affine:
    def ends(self, ranges: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
        ranged = [(step, *ranges[variable]) for variable, step in self.steps.items()]
        terms = [(f"({step}) * ({first})", f"({step}) * (({end}) - 1)") for step, first, end in ranged]
        ends = (f"{choose}({', '.join(pair)})" for choose in ("min", "max") for pair in terms)
        texts = [f"({self.base})", *ends]
        half = len(terms) + 1
        return " + ".join(texts[:half]), " + ".join([texts[0], *texts[half:]])


class Point:
    def loops(self, level: int) -> list[str]:
        found: list[str] = []
        for number in reversed(range(level, len(self.levels))):
            found = [*self.levels[number], *found]
            if found:
                variable = self.variables[number - 1]
                found = [f"for {variable} in range({self.size(variable)}):", *("    " + line for line in found)]
        return found
