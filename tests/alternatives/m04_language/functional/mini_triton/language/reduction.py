def combine_region(terminator: str, sources: Sequence[tensor], combine: Combine) -> Region:
    dtypes = [source.dtype for source in sources]
    block = Block([source.handle.type.element for source in sources] * 2)
    with current().at_end(block):
        combined = combine(*map(tensor, block.arguments, dtypes + dtypes))
        values = [combined] if isinstance(combined, tensor) else combined
        check_combined(values, dtypes)
        current().operation(terminator, *map(operator.attrgetter("handle"), values))
    return Region([block])


def keep_index(better: str, tie_break_left: bool) -> Combine:
    def combine(left: tensor, left_index: tensor, right: tensor, right_index: tensor) -> tuple[tensor, tensor]:
        better_value = compare(better, left, right)
        first = (left_index < right_index) & (right == left)
        wins = better_value | first if tie_break_left else better_value
        return where(wins, left, right), where(wins, left_index, right_index)

    return combine
