"""The front end: from a kernel's Python source to IR.

It takes a function decorated with `@jit`, the types of its arguments, and the values of its constants. It returns an
`ir.core.Module` with one `tt.func`, in which every operation has its source location. An error in the kernel raises a
`CompilationError`.

Files in reading order, with the tasks in them:

names.py         5.1              the names that source code reads and writes; scopes
compiler.py      5.2, 5.9         `ast_to_ttir`, which joins source, builder and visitor; presentation of errors
ast_visitor.py   5.2 to 5.5, 5.8  one method for each kind of node: names, operators, calls, assignments
values.py        5.4, 5.6         values of names, flattened into tensors and rebuilt from others
control_flow.py  5.5, 5.7 to 5.9  `if`, `for`, `while`: run by the compiler, or compiled to regions

Given and worth reading, in `toolbox/`: function.py (finds a kernel's source, parameters and globals with Python's
`inspect`).
"""
