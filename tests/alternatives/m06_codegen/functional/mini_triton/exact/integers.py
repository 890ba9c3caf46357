def remsi(x: Array, y: Array) -> Array:
    return x - y * divsi(x, y)
