"""Passes: each takes a module, makes it smaller or faster, and leaves what it computes as it was, to the last bit.

    rewriting.py     rules as data, and the driver that applies them until none fits (9.1)
    folding.py       operations on constants become constants (9.2)
    peepholes.py     x + 0, x * 1, splats sunk below arithmetic, ...: one line a rule (9.3)
    cse.py           each value is computed once (9.4)
    dce.py           what nobody reads goes (9.5)
    licm.py          what does not change in a loop is computed before it (9.6)
    inlining.py      a call becomes the body of its callee (9.7)
    axis_info.py     what is known of integers and pointers along each axis (9.8), through control flow (9.10)
    coalescing.py    how wide a GPU's loads and stores are, of that (9.10)
    control_flow.py  branches and loops of which one knows what runs (9.9)
    predication.py   a small `scf.if` becomes selects (9.9)

Given: `effects.py` (which operations touch memory), `structure.py` (what is inside of what) and `manager.py` (a text
names the passes, and how often they run).

A pass is a function of a module that returns whether it has changed anything.
"""
