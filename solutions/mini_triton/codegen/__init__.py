"""Code generation: IR to Python source that runs a whole launch grid with NumPy.

    axes.py           along which axes a value varies: the programs', and its own
    writer.py         source text: lines, names, comments
    expressions.py    operations that are one expression
    numpy_gen.py      functions, blocks, memory, reductions
    control_flow.py   loops and branches, which programs may take differently
    library/          what the generated source calls
"""
