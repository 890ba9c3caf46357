import functools
import itertools
from collections.abc import Sequence


def dot(a: Array, b: Array, c: Array) -> Array:
    a, b, c = (np.asarray(stored(x)) for x in (a, b, c))
    wide = np.float64 if c.dtype in (np.int32, np.float64) else np.float32
    product = np.einsum("...mk,...kn->...mn", a.astype(wide), b.astype(wide), optimize=True)
    whole = c.dtype if c.dtype == np.int32 else wide
    return (product.astype(whole) + c.astype(whole)).astype(c.dtype)


def reduce(combine: Callable[..., Any], sources: tuple[Array, ...], axis: int) -> tuple[Array, ...]:
    if isinstance(combine, np.ufunc) and stored(sources[0]).dtype in NARROW:
        combine = as_function(combine)
    if isinstance(combine, np.ufunc):
        source = stored(*sources)
        chosen = MODULO_2.get(combine, combine) if source.dtype == np.bool_ else combine
        return (chosen.reduce(source, axis=axis, dtype=source.dtype),)

    def play(arrays: tuple[Array, ...]) -> tuple[Array, ...]:
        count = arrays[0].shape[axis]
        if count == 1:
            return tuple(array.squeeze(axis) for array in arrays)
        every = [np.take(array, range(side, count, 2), axis) for side in (0, 1) for array in arrays]
        return play(combine(*every))

    return play(tuple(map(stored, sources)))


def scan(
    combine: Callable[..., Any], sources: tuple[Array, ...], axis: int, reverse: bool = False
) -> tuple[Array, ...]:
    arrays = [np.moveaxis(stored(source), axis, -1) for source in sources]
    if reverse:
        arrays = [array[..., ::-1] for array in arrays]

    def further(arrays: Sequence[Array], distance: int) -> list[Array]:
        heads, before, after = (
            [array[..., part] for array in arrays]
            for part in (slice(None, distance), slice(None, -distance), slice(distance, None))
        )
        pairs = zip(heads, combine(*before, *after), strict=True)
        return [np.concatenate(pair, axis=-1) for pair in pairs]

    if isinstance(combine, np.ufunc) and arrays[0].dtype in NARROW:
        combine = as_function(combine)
    if isinstance(combine, np.ufunc):
        chosen = MODULO_2.get(combine, combine) if arrays[0].dtype == np.bool_ else combine
        arrays = [chosen.accumulate(array, axis=-1, dtype=array.dtype) for array in arrays]
    else:
        distances = itertools.takewhile(
            lambda distance: distance < arrays[0].shape[-1], (2**power for power in itertools.count())
        )
        arrays = functools.reduce(further, list(distances), arrays)
    if reverse:
        arrays = [array[..., ::-1] for array in arrays]
    return tuple(np.moveaxis(array, -1, axis) for array in arrays)
