"""Every operation, declared once.

`create` makes a typed operation from a name, operands and attributes, or raises an error that says what is wrong.

A declaration is a type rule: a function from operand types to result types. The files, in reading order:

    elementwise.py   arithmetic, comparisons, casts, element by element (2.2), all in one table
    memory.py        pointers, loads, stores, atomics (2.3)
    shape.py         making and reshaping tensors (2.4)
    reduction.py     dot, reduce and scan: operations whose region combines two elements (2.5)
    control_flow.py  for, if, while: operations whose regions run (2.6)
    definition.py    from rule to operation: schema, type check, `create` (2.7); `@op` itself is given

Given and worth reading, in `toolbox/`: `function.py` (functions, calls, and operations such as print and assert).
"""
