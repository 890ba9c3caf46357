"""The IR: types, operations, and the text that real Triton reads. Triton's own dialects, in plain Python.

In: calls of the builder, such as `builder.add(x, y)`, by a person or by the language; or the text of a module. Out:
a `Module` of operations, verified, and its text. Nothing here knows Python's syntax, or dtypes with a sign.

Yours, in reading order, with their tasks (`mini_triton/formats.py`, given, is the table of all number formats):

    types.py        what a value is: scalars, pointers, tensors (1.1, 1.2); shapes that broadcast (1.3)
    core.py         values, operations, blocks, regions, and uses (2.1)
    ops/            what operations there are, each declared by its type rule (2.2 to 2.7): a map is in its docstring
    verifier.py     checks that a module is well formed (2.8)
    printer.py      a module as text: numbers, names, attributes (2.9), operations and regions (2.10)
    builder.py      where operations go, constants, broadcasting, casts (3.1 to 3.4)
    scopes.py       loops, branches and functions as `with` blocks (3.5, 3.6)
    interpreter.py  what each operation means, and how a module runs, program by program (6.1)

Given and worth reading: `attributes.py` (attributes that are words), `assembly.py` (a format string for each operation,
read by printer and parser), `storage.py` (memory, for the interpreter). To skip: `parser/` (the text read back),
`given/` (what prints).
"""
