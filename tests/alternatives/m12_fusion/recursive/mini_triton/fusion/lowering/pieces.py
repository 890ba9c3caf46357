"""From the last piece to the first: each is chosen before what follows it."""


def lower_cat(node, tensors, axis=0):
    tensors = [x for x in tensors if x.shape != (0,)]
    axis %= len(node.meta["val"].shape)
    dtype = computed_in(node.meta["val"].dtype)

    def at(body, index):
        ends = [ZERO]
        for x in tensors:
            ends.append(ends[-1] + x.shape[axis])

        def element(number):
            place = list(index)
            place[axis] = index[axis] - ends[number]
            return body.cast(body.value(tensors[number], tuple(place)), dtype)

        def chain(number):
            return lambda: body.where(
                less(body, index[axis], ends[number + 1]), lambda: element(number), choices[number + 1]
            )

        choices = [chain(number) for number in range(len(tensors) - 1)]
        choices.append(lambda: element(len(tensors) - 1))
        return choices[0]()

    return elementwise(node, tensors, at)


def lower_slice_scatter(node, x, piece, axis=0, start=None, end=None, step=1):
    axis %= len(x.shape)
    first = clamp_bound(start, x.shape[axis], 0)
    last = clamp_bound(end, x.shape[axis], x.shape[axis])
    by = sympify(step)
    dtype = computed_in(x.dtype)

    def at(body, index):
        place = list(index)
        place[axis] = divide(index[axis] - first, by)
        there = body.index(first + place[axis] * by)

        def old():
            return body.value(x, index)

        def new():
            return body.cast(body.value(piece, tuple(place)), dtype)

        def before_the_end():
            is_step = body.apply("eq", [body.index(index[axis]), there], torch.bool)
            return body.where(is_step, new, old)

        def after_the_start():
            return body.where(less(body, index[axis], last), before_the_end, old)

        return body.where(less(body, index[axis], first), old, after_the_start)

    return elementwise(node, [x, piece], at)
