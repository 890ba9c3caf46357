#include "$header"

$kernels

$algorithms

typedef CUresult (*${name}_algorithm)($prototype);
static const ${name}_algorithm ${name}_kernels[] = {$names};

int ${name}_get_num_algos(void) {
    return (int)(sizeof(${name}_kernels) / sizeof(${name}_kernels[0]));
}

CUresult $name($prototype, int algo_id) {
    if (algo_id < 0 || algo_id >= ${name}_get_num_algos())
        return CUDA_ERROR_INVALID_VALUE;
    return ${name}_kernels[algo_id]($passed);
}

CUresult ${name}_default($prototype) {
    return ${name}_kernels[0]($passed);
}

void load_$name(void) {
$load
}

void unload_$name(void) {
$unload
}
