/* A program that adds vectors with a kernel compiled ahead of time. It needs neither Python nor Triton. */
#include "add.h"

#include <stdio.h>
#include <stdlib.h>

#define N 100003

static void check(CUresult result, const char *what) {
    const char *text = "?";
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorString(result, &text);
    printf("%s: error %d, %s\n", what, (int)result, text);
    exit(1);
}

int main(void) {
    static float x[N + 1], y[N + 1], out[N + 1];
    CUdevice device;
    CUcontext context;
    CUdeviceptr on_gpu[3];

    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    for (int i = 0; i <= N; i++) {
        x[i] = (float)i;
        y[i] = 0.5f * (float)(i % 1000);
        out[i] = -7.0f;
    }
    for (int i = 0; i < 3; i++)
        check(cuMemAlloc(&on_gpu[i], sizeof(out)), "cuMemAlloc");
    check(cuMemcpyHtoD(on_gpu[0], x, sizeof(x)), "cuMemcpyHtoD");
    check(cuMemcpyHtoD(on_gpu[1], y, sizeof(y)), "cuMemcpyHtoD");
    check(cuMemcpyHtoD(on_gpu[2], out, sizeof(out)), "cuMemcpyHtoD");

    load_add();
    check(add_default(NULL, on_gpu[0], on_gpu[1], on_gpu[2], 0), "add nothing");
    check(add_default(NULL, on_gpu[0], on_gpu[1], on_gpu[2], N), "add");
    check(cuCtxSynchronize(), "cuCtxSynchronize");
    check(cuMemcpyDtoH(out, on_gpu[2], sizeof(out)), "cuMemcpyDtoH");
    unload_add();

    for (int i = 0; i <= N; i++) {
        float expected = i < N ? x[i] + y[i] : -7.0f;
        if (out[i] != expected) {
            printf("out[%d] is %g, not %g\n", i, (double)out[i], (double)expected);
            return 1;
        }
    }
    printf("all %d sums are right\n", N);
    return 0;
}
