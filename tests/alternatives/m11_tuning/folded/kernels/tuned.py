"""Bytes of each operand on its own; loops with `append`."""


def shared_memory(config, itemsize, capability):
    m, n, k = (config.kwargs[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K"))
    stages = config.num_stages
    if not reads_from_shared(config, itemsize, capability) and stages > 1:
        stages -= 1
    return stages * m * k * itemsize + stages * k * n * itemsize


def that_fit(candidates, itemsize, capability, limit):
    def needs(config):
        return shared_memory(config, itemsize, capability)

    fitting = [config for config in candidates if needs(config) <= limit]
    if not fitting:
        fitting.append(min(candidates, key=needs))
    return fitting


def that_differ(candidates):
    kept = []
    for config in candidates:
        if all(config.kwargs != other.kwargs for other in kept):
            kept.append(config)
    return kept


def attainable(intensity, peak, bandwidth):
    ridge = peak / bandwidth
    return peak if intensity >= ridge else intensity / ridge * peak
