def keep_index(better: str, tie_break_left: bool) -> Combine:
    def combine(left: tensor, left_index: tensor, right: tensor, right_index: tensor) -> tuple[tensor, tensor]:
        better_value = compare(better, left, right)
        first = (left_index < right_index) & (right == left)
        wins = better_value | first if tie_break_left else better_value
        return where(wins, left, right), where(wins, left_index, right_index)

    return combine
