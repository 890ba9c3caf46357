"""Every operation, declared once.

In: a name, operands and attributes. Out: a typed operation, or an error that says what does not fit.

A declaration is a function from operand types to result types, its type rule. A file a family, in reading order:

    elementwise.py   arithmetic, comparisons, casts: the same for each element (2.2); one table has them all
    memory.py        pointers, loads, stores, atomics (2.3)
    shape.py         tensors made and reshaped (2.4)
    reduction.py     dot, reduce and scan: operations with a region that combines two elements (2.5)
    control_flow.py  for, if, while: operations with regions that run (2.6)
    definition.py    from rule to operation: schema, type check, `create` (2.7); `@op` itself is given

Given and worth reading: `function.py` (functions, calls, and a few operations for people).
"""
