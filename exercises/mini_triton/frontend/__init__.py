"""The front end: from a kernel's Python source to IR.

function.py      a kernel's source, parameters and globals
names.py         which names a piece of source reads and writes
values.py        what a name may hold, and how it crosses a loop or a branch
scope.py         names and their values
expressions.py   expressions
calls.py         calls, of the language and of other kernels
branches.py      if, conditional expressions, and, or, not
loops.py         for, while
statements.py    assignments and blocks of statements
compiler.py      the whole
"""
