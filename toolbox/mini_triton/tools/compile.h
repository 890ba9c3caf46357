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
