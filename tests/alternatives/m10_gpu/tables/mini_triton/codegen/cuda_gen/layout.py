from itertools import pairwise


class Layout:
    def index(self, place: Place) -> tuple[int, ...]:
        sweep, step = place.register // self.vector, place.register % self.vector
        position = step + self.vector * place.thread + self.vector * self.threads * sweep
        return tuple(position // stride % size for stride, size in zip(strides_of(self), self.shape, strict=True))

    def place(self, index: Sequence[int]) -> Place:
        position = sum(i * stride for i, stride in zip(index, strides_of(self), strict=True))
        thread = position // self.vector % self.threads
        return Place(
            thread, (position - thread * self.vector - position % self.vector) // self.threads + position % self.vector
        )


def strides_of(layout: Layout) -> list[int]:
    """How far it is, in positions, from an element to the next one along each axis."""
    found = [1] * len(layout.shape)
    for axis, slower in pairwise(layout.order):
        found[slower] = found[axis] * layout.shape[axis]
    return found
