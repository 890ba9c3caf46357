"""Names that Triton users expect in their programs, not in their kernels. (Given; you can skip them.)

missing.py      names that Triton has and this compiler does not, each with the reason
aliases.py      Triton's names of modules: `mini_triton.compiler.errors` is `mini_triton.errors`
substitution.py `import triton` imports this compiler; real Triton stays reachable
reinterpret.py  reading memory as elements of a different dtype
driver.py       the device that runs kernels, `triton.runtime.driver.active`
knobs.py        settings from environment variables, `triton.knobs`
compiler.py     compiling without a launch, `triton.compile`
toolbox.py      where the files of this package are
"""
