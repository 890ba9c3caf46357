"""Tuning: how long does a kernel take, which of its configurations is the fastest, and how much of a GPU does it use?

Triton users know this package's functions as `triton.testing.do_bench`, `triton.autotune` and `triton.heuristics`. They
launch kernels (`runtime/`), and return milliseconds, configurations and tables.

Yours, in reading order, with their tasks:

    measuring.py   the milliseconds that a function takes (11.1); `timers.py` has `do_bench`
    autotuner.py   trials that leave no trace (11.2), fewer trials (11.3), the fastest configuration (11.4)
    reports.py     a benchmark over many sizes, as a table and as files, `perf_report` (11.5)
    comparison.py  who is faster, and why: results first, then times, bytes and launches (11.8)

Task 11.6 is in `backends/occupancy.py`, task 11.7 in `kernels/tuned.py`.
"""
