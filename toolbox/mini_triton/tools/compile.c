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
