import functools
import itertools
import operator


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
    axes = sorted({_axis(at, len(source.shape) + len(wanted)) for at in wanted})
    if len(axes) != len(wanted):
        raise ValueError(f"duplicate axes in {wanted}")
    first = () if source.shape else axes[:1]
    start = functools.reduce(lambda handle, _: current().splat(handle, (1,)), first, source.handle)
    return tensor(functools.reduce(current().expand_dims, axes[len(first) :], start), source.dtype)


def broadcast_to(x: tensor, *shape: Any) -> tensor:
    target = _listed(shape)
    if x.shape and len(target) - len(x.shape):
        raise ValueError(f"rank mismatch: {[*x.shape]} to {[*target]}")
    return tensor(current().broadcast_to(x.handle, target), x.dtype)


def reshape(x: tensor, *shape: Any, can_reorder: bool = False) -> tensor:
    target = _listed(shape)
    if not target:
        return item(x)
    TensorType(target, element_type(x.handle.type))
    if not x.shape or functools.reduce(operator.mul, target) != functools.reduce(operator.mul, x.shape):
        raise ValueError(f"reshape() cannot change total number of elements in tensor: {x.shape} to {target}")
    return _reshaped(x, target, can_reorder)


def permute(x: tensor, *dims: Any) -> tensor:
    order = _listed(dims)
    if len(order) != len(x.shape):
        raise ValueError("permute dims must have the same length as input shape")
    if all(order != p for p in itertools.permutations(range(len(order)))):
        raise ValueError(f"permute dims must be a permutation of 0, 1, ..., n-1, but were {order}")
    return build("tt.trans", x, order=order)


def trans(x: tensor, *dims: Any) -> tensor:
    if len(x.shape) < 2 and not _listed(dims):
        raise ValueError("tl.trans invoked with a 0- or 1-dimensional tensor")
    *outer, a, b = range(max(2, len(x.shape)))
    return permute(x, *(_listed(dims) or (*outer, b, a)))


def join(x: tensor, y: tensor) -> tensor:
    if operator.ne(*(z.dtype.ir_type for z in (x, y))):
        raise TypeError(f"tl.join: {x.dtype} beside {y.dtype}")
    pair = broadcast_together(x, y)
    if pair[0].shape:
        return build("tt.join", *pair)
    return _reshaped(build("tt.join", *(expand_dims(z, 0) for z in pair)), (2,))


def split(x: tensor) -> tuple[tensor, tensor]:
    if x.shape[-1:] != (2,):
        raise ValueError(f"tl.split of the shape {[*x.shape]}")
    lone = len(x.shape) == 1
    source = expand_dims(x, 0) if lone else x
    halves = (tensor(half, x.dtype) for half in current().operation("tt.split", source.handle).results)
    left, right = map(item, halves) if lone else halves
    return left, right


def interleave(x: tensor, y: tensor) -> tensor:
    pairs = join(x, y)
    merged = (*pairs.shape[:-2], operator.mul(*(1, *pairs.shape)[-2:]))
    return _reshaped(pairs, merged) if len(pairs.shape) > 1 else pairs


setattr(tensor, "T", property(lambda x: permute(x, (1, 0)), doc="A matrix transposed."))  # noqa: B010
