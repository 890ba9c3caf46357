def index(x: tensor, slices: Any) -> tensor:
    if not isinstance(slices, tuple):
        slices = (slices,)
    axis = 0
    for one in slices:
        if one is None:
            x = expand_dims(x, axis)
        elif isinstance(one, slice):
            if one.start is not None:
                raise ValueError("unsupported tensor index: it begins somewhere")
            if one.stop is not None:
                raise ValueError("unsupported tensor index: it ends somewhere")
            if one.step is not None:
                raise ValueError("unsupported tensor index: it leaves some out")
        else:
            raise ValueError("unsupported tensor index: " + repr(one))
        axis = axis + 1
    return x


def expand_dims(x: Any, axis: int | Sequence[int]) -> tensor:
    if not isinstance(x, tensor):
        x = to_tensor(x)
    if isinstance(axis, int):
        axis = [axis]
    rank = len(x.shape) + len(axis)
    wanted: list[int] = []
    for one in axis:
        if one < -rank or one >= rank:
            raise ValueError(f"axis {one} is not there, the result has {rank} dimensions")
        if one < 0:
            one = one + rank
        if one in wanted:
            raise ValueError(f"axis {one} twice")
        wanted.append(one)
    wanted.sort()
    result = x
    for position in wanted:
        if len(result.shape) == 0:
            result = tensor(current().splat(result.handle, (1,)), x.dtype)
        else:
            result = tensor(current().expand_dims(result.handle, position), x.dtype)
    return result


def broadcast_to(x: tensor, *shape: Any) -> tensor:
    shape = _listed(shape)
    if len(x.shape) == 0:
        if len(shape) == 0:
            return x
        return tensor(current().splat(x.handle, shape), x.dtype)
    if len(shape) != len(x.shape):
        raise ValueError("rank mismatch")
    for old, new in zip(x.shape, shape, strict=True):
        if old != new and old != 1:
            raise ValueError(f"a dimension of {old} cannot become {new}")
    if shape == x.shape:
        return x
    wider = TensorType(shape, element_type(x.handle.type))
    return tensor(current().create("tt.broadcast", x.handle, result=wider), x.dtype)


def reshape(x: tensor, *shape: Any, can_reorder: bool = False) -> tensor:
    shape = _listed(shape)
    if len(shape) == 0:
        return item(x)
    new_type = TensorType(shape, element_type(x.handle.type))
    if len(x.shape) == 0:
        raise ValueError("a scalar cannot be reshaped")
    if new_type.numel != x.numel:
        raise ValueError("reshape() cannot change total number of elements in tensor")
    return build("tt.reshape", x, result=new_type, allow_reorder=can_reorder)


def permute(x: tensor, *dims: Any) -> tensor:
    dims = _listed(dims)
    if len(dims) != len(x.shape):
        raise ValueError("permute dims must have the same length as input shape")
    for number in range(len(dims)):
        if number not in dims:
            raise ValueError("permute dims must be a permutation of 0, 1, ..., n-1, but were " + str(dims))
    return build("tt.trans", x, order=dims)


def trans(x: tensor, *dims: Any) -> tensor:
    order = list(_listed(dims))
    if not order:
        if len(x.shape) < 2:
            raise ValueError("tl.trans invoked with a 0- or 1-dimensional tensor")
        for i in range(len(x.shape)):
            order.append(i)
        last = order.pop()
        order.insert(len(order) - 1, last)
    return permute(x, order)


def join(x: tensor, y: tensor) -> tensor:
    if x.dtype.ir_type != y.dtype.ir_type:
        raise TypeError("join: " + str(x.dtype) + " is not " + str(y.dtype))
    dtype = x.dtype
    x, y = broadcast_together(x, y)
    if len(x.shape) == 0:
        x = expand_dims(x, 0)
        y = expand_dims(y, 0)
        both = tensor(current().create("tt.join", x.handle, y.handle), dtype)
        return reshape(both, 2)
    return tensor(current().create("tt.join", x.handle, y.handle), dtype)


def split(x: tensor) -> tuple[tensor, tensor]:
    if len(x.shape) == 0:
        raise ValueError("a scalar cannot be split")
    if x.shape[-1] != 2:
        raise ValueError(f"cannot split the shape {list(x.shape)}")
    if len(x.shape) == 1:
        left, right = split(expand_dims(x, 0))
        return item(left), item(right)
    operation = current().operation("tt.split", x.handle)
    return tensor(operation.results[0], x.dtype), tensor(operation.results[1], x.dtype)


def interleave(x: tensor, y: tensor) -> tensor:
    joined = join(x, y)
    sizes = list(joined.shape)
    if len(sizes) > 1:
        two = sizes.pop()
        sizes[-1] = sizes[-1] * two
        joined = reshape(joined, sizes)
    return joined


setattr(tensor, "T", property(lambda x: permute(x, (1, 0)), doc="A matrix transposed."))  # noqa: B010
