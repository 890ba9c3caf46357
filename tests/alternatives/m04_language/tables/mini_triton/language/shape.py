def _whole(at: Any) -> bool:
    """Whether an index is `:`."""
    return isinstance(at, slice) and all(bound is None for bound in (at.start, at.stop, at.step))


KINDS = ((lambda at: at is None, "new"), (_whole, "whole"))

"""What an index may be, and what it does."""


def index(x: tensor, slices: Any) -> tensor:
    new: list[int] = []
    for axis, at in enumerate(slices if isinstance(slices, tuple) else (slices,)):
        kinds = [kind for fits, kind in KINDS if fits(at)]
        if not kinds:
            raise ValueError(f"unsupported tensor index: {at}")
        new += [axis] * (kinds[0] == "new")
    rank = len(x.shape) + len(new)
    return expand_dims(x, [axis - rank for axis in new]) if new else x


def expand_dims(x: Any, axis: int | Sequence[int]) -> tensor:
    x = to_tensor(x)
    axes = _listed([axis])
    rank = len(x.shape) + len(axes)
    taken = [0] * rank
    for at in axes:
        taken[_axis(at, rank)] += 1
    if max(taken, default=0) > 1:
        raise ValueError(f"expand_dims received duplicate axes: {axes}")
    builder, handle, scalar = current(), x.handle, not x.shape
    for at, new in enumerate(taken):
        if new:
            handle = builder.splat(handle, [1]) if scalar else builder.expand_dims(handle, at)
            scalar = False
    return tensor(handle, x.dtype)


def broadcast_to(x: tensor, *shape: Any) -> tensor:
    shape = _listed(shape)
    if len(x.shape) in (0, len(shape)):
        return tensor(current().broadcast_to(x.handle, shape), x.dtype)
    raise ValueError(f"rank mismatch: {x.shape} and {shape}")


def reshape(x: tensor, *shape: Any, can_reorder: bool = False) -> tensor:
    shape = _listed(shape)
    if shape == ():
        return item(x)
    sizes = {"before": x.numel if x.shape else 0, "after": TensorType(shape, element_type(x.handle.type)).numel}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"reshape() cannot change total number of elements in tensor: {sizes}")
    return _reshaped(x, shape, can_reorder)


def permute(x: tensor, *dims: Any) -> tensor:
    dims = _listed(dims)
    problems = {
        "must have the same length as input shape": len(dims) != len(x.shape),
        f"must be a permutation of 0, 1, ..., n-1, but were {dims}": {*dims} != {*range(len(dims))},
    }
    for problem, found in problems.items():
        if found:
            raise ValueError(f"permute dims {problem}")
    return build("tt.trans", x, order=dims)


def trans(x: tensor, *dims: Any) -> tensor:
    swapped = {2: (1, 0), 3: (0, 2, 1), 4: (0, 1, 3, 2), 5: (0, 1, 2, 4, 3)}
    if not _listed(dims) and len(x.shape) not in swapped:
        raise ValueError("tl.trans invoked with a 0- or 1-dimensional tensor")
    return permute(x, _listed(dims) or swapped[len(x.shape)])


def join(x: tensor, y: tensor) -> tensor:
    types = {d.ir_type: d for d in (y.dtype, x.dtype)}
    if len(types) == 2:
        raise TypeError(f"cannot join {x.dtype} and {y.dtype}")
    if x.shape or y.shape:
        return build("tt.join", *broadcast_together(x, y))
    pair = build("tt.join", *(tensor(current().splat(z.handle, (1,)), x.dtype) for z in (x, y)))
    return _reshaped(pair, [2])


def split(x: tensor) -> tuple[tensor, tensor]:
    if x.shape[-1:] != (2,):
        raise ValueError(f"the last dimension must have size 2: {list(x.shape)}")
    finish = {True: item, False: lambda half: half}[len(x.shape) == 1]
    pairs = current().expand_dims(x.handle, 0) if len(x.shape) == 1 else x.handle
    first, second = current().operation("tt.split", pairs).results
    return finish(tensor(first, x.dtype)), finish(tensor(second, x.dtype))


def interleave(x: tensor, y: tensor) -> tensor:
    pairs = join(x, y)
    *outer, size, two = (1, *pairs.shape)
    return pairs if len(pairs.shape) == 1 else _reshaped(pairs, (*outer[1:], size * two))


setattr(tensor, "T", property(lambda x: permute(x, (1, 0)), doc="A matrix transposed."))  # noqa: B010
