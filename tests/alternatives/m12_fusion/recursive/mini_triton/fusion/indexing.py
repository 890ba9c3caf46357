"""From the last dimension to the first; sums instead of lists of terms."""

ZERO = sympy.Integer(0)


def multiples_and_rest(expr, by):
    if isinstance(by, sympy.Add):
        return sympy.div(sympy.expand(expr), by, *by.free_symbols)
    whole = sympy.Add(*(term for term in sympy.Add.make_args(sympy.expand(expr)) if is_whole(term / by)))
    return sympy.expand(whole / by), sympy.expand(expr - whole)


def divide(expr, by):
    multiples, rest = multiples_and_rest(expr, by)
    if not is_within(rest, by):
        if not bounds(rest)[0].is_nonnegative:
            return quotient(expr, by)
        multiples += quotient(rest, by)
    return multiples


def remainder(expr, by):
    rest = multiples_and_rest(expr, by)[1]
    if is_within(rest, by):
        return rest
    return Remainder(rest, by) if bounds(rest)[0].is_nonnegative else Remainder(expr, by)


def unravel(flat, shape):
    """Take the last dimension off, and go on with the others."""
    if not shape:
        return ()
    *outer, size = shape
    if size == 1:
        return (*unravel(flat, outer), ZERO)
    if all(other == 1 for other in outer):
        return (*(ZERO for _ in outer), flat)
    size = sympify(size)
    return (*unravel(divide(flat, size), outer), remainder(flat, size))


def index_before(index, shape, old):
    if list(shape) == list(old):
        return index
    return unravel(ravel(index, shape), old)
