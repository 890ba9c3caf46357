"""Indices as lists that are changed at one place."""


def lower_permute(node, x, axes):
    def index_of(index):
        found = [sympy.Integer(0)] * len(index)
        for place, axis in enumerate(axes):
            found[axis] = index[place]
        return tuple(found)

    return view(node, x, index_of)


def lower_slice(node, x, axis=0, start=None, end=None, step=1):
    first = clamp_bound(start, x.shape[axis], 0)

    def index_of(index):
        found = list(index)
        found[axis] = found[axis] * step + first
        return tuple(found)

    return view(node, x, index_of)
