"""The front end: from a kernel's Python source to IR.

In: a function decorated by `@jit`, the types of its arguments, the values of its constants. Out: an `ir.core.Module`
with one `tt.func`; every operation knows its line of the source. What is wrong with the kernel is a `CompilationError`.

Files in reading order, with the tasks in them:

names.py         5.1              which names a piece of source reads and writes; a scope: names and their values
compiler.py      5.2, 5.9         `ast_to_ttir`: joins source, builder and visitor; what is left of an error
ast_visitor.py   5.2, 5.3, 5.4    one method for each kind of node: names, operators, calls, assignments
values.py        5.4, 5.6         what a name may hold; taken apart into tensors, and put together again
control_flow.py  5.5, 5.7 to 5.9  `if`, `for`, `while`: static ones run now, others become regions with carried values

Given, and worth reading: function.py, how Python's `inspect` finds a kernel's source, parameters and globals.
"""
