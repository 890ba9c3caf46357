"""Attention, a block of keys at a time, one small step after the other, with powers of e."""


def forward_kernel(
    q, k, v, out, logsumexp, scale, length,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    block = tl.program_id(0)
    head = tl.program_id(1)
    start_of_head = head.to(tl.int64) * length * D
    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    rows_inside = rows < length
    elements = tl.arange(0, D)

    query_places = start_of_head + rows[:, None] * D + elements[None, :]
    query = tl.load(q + query_places, mask=rows_inside[:, None], other=0.0)

    maximum = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    result = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    end = length
    if CAUSAL:
        end = min(length, (block + 1) * BLOCK_M)
    for start in range(0, end, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        keys_inside = keys < length

        # Loaded as columns, so that nothing is to be transposed.
        key_places = start_of_head + keys[None, :] * D + elements[:, None]
        key_columns = tl.load(k + key_places, mask=keys_inside[None, :], other=0.0)
        scores = tl.dot(query, key_columns, input_precision="ieee")
        scores = scores * scale
        scores = tl.where(keys_inside[None, :], scores, float("-inf"))
        if CAUSAL:
            scores = tl.where(keys[None, :] > rows[:, None], float("-inf"), scores)

        block_maximum = tl.max(scores, axis=1)
        new_maximum = tl.maximum(maximum, block_maximum)
        correction = tl.exp(maximum - new_maximum)
        weights = tl.exp(scores - new_maximum[:, None])

        total = total * correction
        total = total + tl.sum(weights, axis=1)

        value_places = start_of_head + keys[:, None] * D + elements[None, :]
        values = tl.load(v + value_places, mask=keys_inside[:, None], other=0.0)
        result = result * correction[:, None]
        result = result + tl.dot(weights.to(v.dtype.element_ty), values, input_precision="ieee")
        maximum = new_maximum

    natural = maximum + tl.log(total)
    tl.store(logsumexp + head * length + rows, natural * LOG2E, mask=rows_inside)
    result = result / total[:, None]
    tl.store(out + query_places, result.to(out.dtype.element_ty), mask=rows_inside[:, None])


def delta_kernel(out, dout, delta, length, BLOCK_M: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1)
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    inside = rows < length
    start_of_head = head.to(tl.int64) * length * D
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    for element in range(0, D):
        places = start_of_head + rows * D + element
        of_out = tl.load(out + places, mask=inside, other=0.0)
        of_dout = tl.load(dout + places, mask=inside, other=0.0)
        total = total + of_out.to(tl.float32) * of_dout.to(tl.float32)
    tl.store(delta + head * length + rows, total, mask=inside)


def dkdv_kernel(
    q, k, v, dout, logsumexp, delta, dk, dv, scale, length,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1)
    start_of_head = head.to(tl.int64) * length * D
    keys = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    keys_inside = keys < length
    elements = tl.arange(0, D)
    key_places = start_of_head + keys[:, None] * D + elements[None, :]
    key = tl.load(k + key_places, mask=keys_inside[:, None], other=0.0)
    value = tl.load(v + key_places, mask=keys_inside[:, None], other=0.0)
    dk_total = tl.zeros([BLOCK_N, D], dtype=tl.float32)
    dv_total = tl.zeros([BLOCK_N, D], dtype=tl.float32)
    begin = 0
    if CAUSAL:
        first_key = tl.program_id(0) * BLOCK_N
        begin = first_key - first_key % BLOCK_M
    for start in range(begin, length, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        rows_inside = rows < length
        query_places = start_of_head + rows[:, None] * D + elements[None, :]
        query = tl.load(q + query_places, mask=rows_inside[:, None], other=0.0)
        do = tl.load(dout + query_places, mask=rows_inside[:, None], other=0.0)
        row_logsumexp = tl.load(logsumexp + head * length + rows, mask=rows_inside, other=0.0)
        row_delta = tl.load(delta + head * length + rows, mask=rows_inside, other=0.0)

        p = probabilities(query, key, row_logsumexp, scale, rows, keys, length, CAUSAL)
        p_transposed = tl.trans(p).to(do.dtype)
        dv_total = dv_total + tl.dot(p_transposed, do, input_precision="ieee")

        dp = tl.dot(do, tl.trans(value), input_precision="ieee")
        difference = dp - row_delta[:, None]
        ds = p * difference * scale
        ds_transposed = tl.trans(ds).to(query.dtype)
        dk_total = dk_total + tl.dot(ds_transposed, query, input_precision="ieee")
    tl.store(dk + key_places, dk_total.to(dk.dtype.element_ty), mask=keys_inside[:, None])
    tl.store(dv + key_places, dv_total.to(dv.dtype.element_ty), mask=keys_inside[:, None])


def dq_kernel(
    q, k, v, dout, logsumexp, delta, dq, scale, length,
    CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1)
    start_of_head = head.to(tl.int64) * length * D
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    rows_inside = rows < length
    elements = tl.arange(0, D)
    query_places = start_of_head + rows[:, None] * D + elements[None, :]
    query = tl.load(q + query_places, mask=rows_inside[:, None], other=0.0)
    do = tl.load(dout + query_places, mask=rows_inside[:, None], other=0.0)
    row_logsumexp = tl.load(logsumexp + head * length + rows, mask=rows_inside, other=0.0)
    row_delta = tl.load(delta + head * length + rows, mask=rows_inside, other=0.0)
    total = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    end = length
    if CAUSAL:
        end = min(length, (tl.program_id(0) + 1) * BLOCK_M)
    for start in range(0, end, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        keys_inside = keys < length
        key_places = start_of_head + keys[:, None] * D + elements[None, :]
        key = tl.load(k + key_places, mask=keys_inside[:, None], other=0.0)
        value = tl.load(v + key_places, mask=keys_inside[:, None], other=0.0)
        p = probabilities(query, key, row_logsumexp, scale, rows, keys, length, CAUSAL)
        dp = tl.dot(do, tl.trans(value), input_precision="ieee")
        ds = p * (dp - row_delta[:, None])
        total = total + tl.dot(ds.to(key.dtype), key, input_precision="ieee")
    total = total * scale
    tl.store(dq + query_places, total.to(dq.dtype.element_ty), mask=rows_inside[:, None])
