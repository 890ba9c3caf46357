/* A driver without a GPU: what matters of it is done by functions of a test, in `on_...`. */
#include <cuda.h>

#include <stdlib.h>
#include <string.h>

CUresult (*on_alloc)(CUdeviceptr *, size_t);
CUresult (*on_load)(CUmodule *, const void *);
CUresult (*on_unload)(CUmodule);
CUresult (*on_function)(CUfunction *, CUmodule, const char *);
CUresult (*on_attribute)(CUfunction, CUfunction_attribute, int);
CUresult (*on_launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                      void **, void **);

CUresult cuInit(unsigned flags) { return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }

CUresult cuGetErrorString(CUresult error, const char **text) {
    *text = error == CUDA_SUCCESS ? "no error" : "an error";
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int number) {
    *device = number;
    return number == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    *value = 227 * 1024;
    return attribute && device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    *context = (CUcontext)context;
    return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuCtxSetCurrent(CUcontext context) { return context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }

CUresult cuCtxGetDevice(CUdevice *device) {
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void) { return CUDA_SUCCESS; }

CUresult cuMemAlloc(CUdeviceptr *address, size_t size) { return on_alloc(address, size); }

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t size) {
    memcpy((void *)to, from, size);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t size) {
    memcpy(to, (const void *)from, size);
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) { return on_load(module, image); }

CUresult cuModuleUnload(CUmodule module) { return on_unload(module); }

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    return on_function(function, module, name);
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    return on_attribute(function, attribute, value);
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
    return function && config ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                        unsigned blockY, unsigned blockZ, unsigned shared, CUstream stream, void **arguments,
                        void **extra) {
    return on_launch(function, gridX, gridY, gridZ, blockX, blockY, blockZ, shared, stream, arguments, extra);
}
