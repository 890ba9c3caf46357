import operator
from collections.abc import Sequence


def numbered(digits: Sequence[int], bases: Sequence[int], order: Sequence[int]) -> int:
    """One number of digits, each modulo its base; those that are first in the order count least."""
    if not order:
        return 0
    axis, *rest = order
    return digits[axis] % bases[axis] + bases[axis] * numbered(digits, bases, rest)


class Blocked:
    def owner(self, *index: int) -> int:
        pieces = list(map(operator.floordiv, index, self.size_per_thread))
        turns = list(map(operator.floordiv, pieces, self.threads_per_warp))
        lane = numbered(pieces, self.threads_per_warp, self.order)
        return WARP * numbered(turns, self.warps_per_cta, self.order) + lane


def layouts(ttgir: str) -> dict[str, Blocked]:
    numbers = re.compile(r"\d+").findall
    return {
        name: Blocked(*(tuple(map(int, numbers(sizes))) for sizes in texts)) for name, *texts in _BLOCKED.findall(ttgir)
    }
