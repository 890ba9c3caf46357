"""The front end: from a kernel's Python source to IR.

In: a function decorated by `@jit`, the types of its arguments, the values of its constants. Out: an `ir.core.Module`
with one `tt.func`; every operation knows its line of the source. An error in the kernel is a `CompilationError`.

Files in reading order, with the tasks in them:

names.py         5.1              which names a piece of source reads and writes; a scope: names and their values
compiler.py      5.2, 5.9         `ast_to_ttir`: joins source, builder and visitor; what remains of an error
ast_visitor.py   5.2 to 5.5, 5.8  one method for each kind of node: names, operators, calls, assignments
values.py        5.4, 5.6         what a name may hold; flattened into tensors, and rebuilt from others
control_flow.py  5.5, 5.7 to 5.9  `if`, `for`, `while`: the compiler runs some, others become regions

Given, and worth reading: function.py, how Python's `inspect` finds a kernel's source, parameters and globals. To skip:
given/adopted.py, helpers that real Triton's `@jit` has marked.
"""
