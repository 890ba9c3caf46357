"""A context manager keeps memory; a peer is judged by a helper that returns a reason; means by logarithms."""

from contextlib import contextmanager


@contextmanager
def kept(memory):
    """A context at whose end memory is as before; it yields a function that restores memory earlier."""
    pairs = [(array, copy_of(array)) for array in memory]

    def restore():
        for pair in pairs:
            put_back(*pair)

    try:
        yield restore
    finally:
        restore()


def reason_to_refuse(peer, expected, close):
    """Why a peer is wrong, or None."""
    try:
        got = list(peer.solve())
        if len(got) - len(expected):
            raise ValueError(f"expected {len(expected)} results, got {len(got)}")
        for place in range(len(expected)):
            close(got[place], expected[place], err_msg="result " + str(place))
    except Exception as error:
        return type(error).__name__ + ": " + str(error)


def solve(call):
    with kept(call.memory):
        results = copies_in(call.run())
        results.extend(copy_of(array) for array in call.memory)
    return results


def median_time(device, call, warmup=25, rep=100):
    with kept(call.memory) as restore:
        taken = measure(Preparing(device, restore), call.run, warmup, rep)
    return statistics.median(taken)


def footprint(memory):
    if 0 in memory.shape:
        return 0
    size = memory.itemsize
    for count, stride in zip(memory.shape, memory.strides, strict=True):
        if stride != 0:
            size *= count
    return size


def traffic(steps):
    total = 0
    for step in steps:
        total += sum(map(footprint, {*step.reads})) + sum(map(footprint, {*step.writes}))
    return Traffic(bytes=total, launches=len(steps))


def compare(problem, peers, turns=TURNS, close=assert_close):
    expected = peers[0].solve()
    reasons = {peer.name: reason_to_refuse(peer, expected, close) for peer in peers[1:]}
    refused = {name: reason for name, reason in reasons.items() if reason is not None}
    racing = {peer.name: peer for peer in peers if peer.name not in refused}
    table = [[peer.time() for peer in racing.values()] for _ in range(turns)]
    times = {name: statistics.median(column) for name, column in zip(racing, zip(*table, strict=True), strict=True)}
    known = {name: traffic(peer.steps()) for name, peer in racing.items() if peer.steps is not None}
    return Row(problem, times, known, refused)


def gain(row, peer, ours="ours"):
    try:
        return row.times[peer] / row.times[ours]
    except KeyError:
        return None


def mean_gain(rows, peer, ours="ours"):
    logs = [math.log(found) for found in (gain(row, peer, ours) for row in rows) if found is not None]
    if not logs:
        return None
    return math.exp(sum(logs) / len(logs))
