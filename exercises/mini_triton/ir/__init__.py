"""The IR: types, operations, and the text that real Triton reads. It implements Triton's dialects.

The language calls the builder, as in `builder.add(x, y)`, or the parser reads the text of a module. The result is a
`Module` of operations, which the verifier checks and the printer writes as text. This package does not depend on
Python's syntax or on the language's dtypes.

The files with tasks, in reading order (`mini_triton/formats.py`, given, is the table of all number formats):

    types.py        types of values: scalars, pointers, tensors (1.1, 1.2); broadcasting of shapes (1.3)
    core.py         values, operations, blocks, regions, and uses (2.1)
    ops/            all operations, each declared by its type rule (2.2 to 2.7); see the map in its docstring
    verifier.py     checks that a module is well formed (2.8)
    printer.py      modules as text: numbers, names, attributes (2.9), operations and regions (2.10)
    builder.py      insertion points, constants, broadcasting, casts (3.1 to 3.4)
    scopes.py       loops, branches and functions as `with` blocks (3.5, 3.6)
    interpreter.py  the meaning of each operation; runs a module program by program (6.1)

Given and worth reading: `attributes.py` (attributes that are words), `storage.py` (the interpreter's memory), and in
`toolbox/` `assembly.py` (the format string of each operation, which the printer and the parser read).
"""
