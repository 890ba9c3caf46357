"""Tuning: how long does a kernel take, which of its configurations is the fastest, and how much of a GPU does it use?

Triton's users know these names as `triton.testing.do_bench`, `triton.autotune` and `triton.heuristics`. In: kernels
that can be launched (`runtime/`). Out: milliseconds, choices, tables.

Yours, in reading order, with their tasks:

    measuring.py   milliseconds of a function, `do_bench` (11.1)
    autotuner.py   a trial that leaves no trace (11.2), fewer trials (11.3), the fastest configuration (11.4)
    reports.py     a benchmark over many sizes, as a table and as files, `perf_report` (11.5)
    occupancy.py   how many warps a multiprocessor can hold, and what limits them (11.6)

Task 11.7 is in `kernels/tuned.py`. To skip: `given/` (results on disk, what a tuner prints, memory that trials change,
pictures).
"""
