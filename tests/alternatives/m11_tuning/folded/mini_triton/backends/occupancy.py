"""Registers counted in units, blocks found by trying: one more until it does not fit."""


def limits(gpu, warps, registers, shared):
    units = -(-registers * WARP // REGISTER_UNIT)
    in_partition = (REGISTERS // REGISTER_UNIT // PARTITIONS) // units
    found = {}
    found["warps"] = gpu.warps // warps
    found["blocks"] = gpu.blocks
    found["registers"] = in_partition * PARTITIONS // warps
    pieces = -(-(shared + gpu.reserved) // SHARED_UNIT)
    if pieces > 0:
        found["shared memory"] = (gpu.shared // SHARED_UNIT) // pieces
    return found


def occupancy(gpu, warps, registers, shared):
    allowed = limits(gpu, warps, registers, shared)
    blocks = 0
    while all(blocks + 1 <= limit for limit in allowed.values()):
        blocks += 1
    stopping = tuple(name for name in allowed if allowed[name] < blocks + 1)
    return Occupancy(blocks, blocks * warps, blocks * warps / gpu.warps, stopping)
