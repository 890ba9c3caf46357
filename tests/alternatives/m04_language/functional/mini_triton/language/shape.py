import functools
import itertools


def index(x: tensor, slices: Any) -> tensor:
    indices = slices if isinstance(slices, tuple) else (slices,)

    def known(at: Any) -> bool:
        return at is None or (isinstance(at, slice) and [at.start, at.stop, at.step].count(None) == 3)

    unknown = next(itertools.filterfalse(known, indices), None)
    if unknown is not None:
        raise ValueError(f"unsupported tensor index: {unknown}")
    new = (axis for axis, at in enumerate(indices) if at is None)
    return functools.reduce(expand_dims, new, x)


def expand_dims(x: Any, axis: int | Sequence[int]) -> tensor:
    source = to_tensor(x)
    wanted = _listed((axis,))
    axes = sorted({wrap_axis(at, len(source.shape) + len(wanted)) for at in wanted})
    if len(axes) != len(wanted):
        raise ValueError(f"duplicate axes in {wanted}")
    first = () if source.shape else axes[:1]
    start = functools.reduce(lambda handle, _: current().splat(handle, (1,)), first, source.handle)
    return tensor(functools.reduce(current().expand_dims, axes[len(first) :], start), source.dtype)


def permute(x: tensor, *dims: Any) -> tensor:
    order = _listed(dims)
    if len(order) != len(x.shape):
        raise ValueError("permute dims must have the same length as input shape")
    if all(order != p for p in itertools.permutations(range(len(order)))):
        raise ValueError(f"permute dims must be a permutation of 0, 1, ..., n-1, but were {order}")
    return build("tt.trans", x, order=order)


setattr(tensor, "T", property(lambda x: permute(x, (1, 0)), doc="A matrix transposed."))  # noqa: B010
