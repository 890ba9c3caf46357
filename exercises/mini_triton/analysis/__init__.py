"""Analyses: what is known about a kernel before it runs. They read the traits that operations declare (`ir/ops`).

    axes.py       the axes along which a value varies: the program axis and its dimensions (6.4, 6.8)
    pointers.py   the argument of each pointer (given); loops that wait for other programs (6.9)
    axis_info.py  facts about integers and pointers along each axis (9.8), through control flow (9.10)

Given: `effects.py` (which operations access memory), and in `toolbox/` `flow.py` (where a value comes from, and the
driver that repeats an analysis until nothing changes).
"""
