"""The IR: types, operations, and the text that real Triton reads. Triton's own dialects, in plain Python.

A person or the language calls the builder, as in `builder.add(x, y)`, or the parser reads the text of a module. The
result is a verified `Module` of operations, and its text. This package does not know Python's syntax or signed dtypes.

Yours, in reading order, with their tasks (`mini_triton/formats.py`, given, is the table of all number formats):

    types.py        types of values: scalars, pointers, tensors (1.1, 1.2); broadcasting of shapes (1.3)
    core.py         values, operations, blocks, regions, and uses (2.1)
    ops/            all operations, each declared by its type rule (2.2 to 2.7); see the map in its docstring
    verifier.py     checks that a module is well formed (2.8)
    printer.py      modules as text: numbers, names, attributes (2.9), operations and regions (2.10)
    builder.py      insertion points, constants, broadcasting, casts (3.1 to 3.4)
    scopes.py       loops, branches and functions as `with` blocks (3.5, 3.6)
    interpreter.py  the meaning of each operation; runs a module program by program (6.1)

Given and worth reading: `attributes.py` (attributes that are words), `assembly.py` (a format string for each operation,
read by printer and parser), `storage.py` (the interpreter's memory). You can skip `parser/` (reads text back) and
`given/` (operations that print).
"""
