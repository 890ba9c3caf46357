class Blocked:
    def owner(self, *index: int) -> int:
        rank = len(index)
        lanes = [0] * rank
        warps = [0] * rank
        for axis in range(rank):
            piece = index[axis] // self.size_per_thread[axis]
            lanes[axis] = piece % self.threads_per_warp[axis]
            piece = piece // self.threads_per_warp[axis]
            warps[axis] = piece % self.warps_per_cta[axis]
        lane = 0
        lane_step = 1
        for axis in self.order:
            lane = lane + lanes[axis] * lane_step
            lane_step = lane_step * self.threads_per_warp[axis]
        warp = 0
        warp_step = 1
        for axis in self.order:
            warp = warp + warps[axis] * warp_step
            warp_step = warp_step * self.warps_per_cta[axis]
        return warp * 32 + lane


def numbers(text: str) -> tuple[int, ...]:
    result = []
    for word in text.split(","):
        result.append(int(word.strip()))
    return tuple(result)


def layouts(ttgir: str) -> dict[str, Blocked]:
    found = {}
    for name, each, threads, warps, order in _BLOCKED.findall(ttgir):
        found[name] = Blocked(numbers(each), numbers(threads), numbers(warps), numbers(order))
    return found
