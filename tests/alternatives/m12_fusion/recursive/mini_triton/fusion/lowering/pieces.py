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
