"""Each pass makes a module smaller or faster, and keeps its results, bit for bit.

    rewriting.py     rules as data, and the driver that applies them until none matches (9.1)
    folding.py       operations on constants become constants (9.2)
    peepholes.py     x + 0, x * 1, splats sunk below arithmetic, ...: one line per rule (9.3)
    cse.py           equal operations are merged (9.4)
    dce.py           operations and values that nothing needs are erased (9.5)
    licm.py          loop-invariant operations move out of the loop (9.6)
    inlining.py      a call becomes the body of its callee (9.7)
    coalescing.py    the width of a GPU's loads and stores, from facts along each axis (9.10)
    control_flow.py  branches with known conditions, loops of at most one iteration (9.9)
    predication.py   a small `scf.if` becomes selects (9.9)

`analysis/` has the facts along each axis (9.8, 9.10), and `effects.py` (which operations access memory). Given:
`structure.py` (positions of operations and values), and in `toolbox/` `manager.py` (the passes and their order).

A pass is a function that takes a module and returns whether it has changed the module.
"""
