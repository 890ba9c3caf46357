"""Helpers for tests and benchmarks of kernels, `triton.testing`. (Given.)"""

from __future__ import annotations

from mini_triton.tuning.closeness import assert_close as assert_close
from mini_triton.tuning.reports import Benchmark as Benchmark
from mini_triton.tuning.reports import Mark as Mark
from mini_triton.tuning.reports import perf_report as perf_report
from mini_triton.tuning.timers import do_bench as do_bench
from mini_triton.tuning.timers import do_bench_cudagraph as do_bench_cudagraph
