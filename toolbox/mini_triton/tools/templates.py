"""Templates of the C files that the ahead-of-time compiler and its linker write. (Given.)

Source: `compile.c`, `compile.h` and `link.h` in Triton's `python/triton/tools/extra/cuda/`.
"""

from __future__ import annotations

from string import Template

HEADER = Template("""\
#ifndef TT_KERNEL_$name
#define TT_KERNEL_$name

#include <cuda.h>
#include <stdint.h>

// tt-linker-backend: cuda
// tt-linker: $name:$arguments:$algorithm
// tt-linker-hints: $hints

void load_$name(void);
void unload_$name(void);
CUresult $name($prototype);

#endif
""")
"""The header for a C program. Its comments list all arguments for the linker, including those known to be 1."""

SOURCE = Template("""\
// $description
#include "$header"

#include <stddef.h>

static CUmodule ${name}_mod;
static CUfunction ${name}_func; // NULL until the machine code is on the GPU
static const unsigned char ${name}_cubin[$size] = {
$cubin
};

void unload_$name(void) {
    if (${name}_mod != NULL)
        cuModuleUnload(${name}_mod);
    ${name}_mod = NULL;
    ${name}_func = NULL;
}

static CUresult ${name}_load(void) {
    CUresult result = cuModuleLoadData(&${name}_mod, ${name}_cubin);
    if (result == CUDA_SUCCESS)
        result = cuModuleGetFunction(&${name}_func, ${name}_mod, "$kernel");
    if (result == CUDA_SUCCESS && $shared > 48 * 1024) // by default, a kernel gets at most 48 KiB
        result = cuFuncSetAttribute(${name}_func, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, $shared);
    if (result != CUDA_SUCCESS)
        unload_$name();
    return result;
}

// If loading fails, the launch tries again, and returns the error.
void load_$name(void) {
    if (${name}_func == NULL)
        ${name}_load();
}

CUresult $name($prototype) {
    if (${name}_func == NULL) {
        CUresult result = ${name}_load();
        if (result != CUDA_SUCCESS)
            return result;
    }
$launch
}
""")
"""The machine code of one kernel, and the function that launches it on the current GPU."""

LINKED_HEADER = Template("""\
#ifndef TT_LINKED_$name
#define TT_LINKED_$name

#include <cuda.h>
#include <stdint.h>

$algorithms

int ${name}_get_num_algos(void);
CUresult $name($prototype, int algo_id);
CUresult ${name}_default($prototype);
void load_$name(void);
void unload_$name(void);

#endif
""")
"""The header for a C program that calls a linked kernel."""

ALGORITHM = Template("""\
CUresult $name($prototype);
void load_$name(void);
void unload_$name(void);""")

LINKED = Template("""\
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
""")
"""The dispatchers of a linked kernel, and the choice among them."""
