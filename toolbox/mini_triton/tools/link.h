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
