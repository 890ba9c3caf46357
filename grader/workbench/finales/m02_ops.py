"""Operations that you create, verify and print also compute: this loop is Newton's method for a square root."""

import numpy as np
from mini_triton.ir import interpreter
from mini_triton.ir.core import Block, Region
from mini_triton.ir.ops.definition import create
from mini_triton.ir.printer import print_module
from mini_triton.ir.types import F64, I32

program = Block([I32, I32, I32, F64, F64], ["zero", "steps", "one", "start", "two"])
zero, steps, one, start, two = program.arguments
body = Block([I32, F64], ["step", "x"])
x = body.arguments[1]
quotient = body.append(create("arith.divf", two, x)).result
total = body.append(create("arith.addf", x, quotient)).result
body.append(create("scf.yield", body.append(create("arith.divf", total, two)).result))
loop = program.append(create("scf.for", zero, steps, one, start, regions=[Region([body])]))
program.append(create("tt.return", loop.result))

print(print_module(loop))
for count in range(1, 6):
    (root,) = interpreter.Program().run(program, *map(np.int32, (0, count, 1)), 1.0, 2.0)
    print(f"{count} step{'s' if count > 1 else ' '}  {root:.15f}")
print(f"sqrt(2)  {2**0.5:.15f}")
