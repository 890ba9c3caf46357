"""Operations that you build and print also compute: this loop is Newton's method for a square root."""

import numpy as np
from mini_triton.ir import interpreter
from mini_triton.ir.core import Block, Operation, Region
from mini_triton.ir.printer import print_module
from mini_triton.ir.types import F64, I32

program = Block([I32, I32, I32, F64, F64], ["zero", "steps", "one", "start", "two"])
zero, steps, one, start, two = program.arguments
body = Block([I32, F64], ["step", "x"])
x = body.arguments[1]
quotient = body.append(Operation("arith.divf", [two, x], [F64])).result
total = body.append(Operation("arith.addf", [x, quotient], [F64])).result
body.append(Operation("scf.yield", [body.append(Operation("arith.divf", [total, two], [F64])).result]))
loop = program.append(Operation("scf.for", [zero, steps, one, start], [F64], regions=[Region([body])]))
program.append(Operation("tt.return", [loop.result]))

for count in range(1, 6):
    (root,) = interpreter.Program().run(program, *map(np.int32, (0, count, 1)), 1.0, 2.0)
    print(f"{count} step{'s' if count > 1 else ' '}  {root:.15f}")
print(f"sqrt(2)  {2**0.5:.15f}")
print(print_module(loop))
