"""Real Triton compiles your TTIR to machine code. These are the stages of your vector addition."""

import numpy as np
from kernels.vector_add import add_kernel
from mini_triton.backends.page import write_page

print(write_page(add_kernel.warmup(np.float16, np.float16, np.float16, 4096, BLOCK=1024)).replace("\n\n", "\n"))
