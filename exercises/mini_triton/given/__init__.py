"""Names that users of Triton expect, for their programs rather than for their kernels. (Given; to skip.)

missing.py      names that Triton has and this compiler does not, each with the reason
aliases.py      names of modules: `mini_triton.compiler.errors` is `mini_triton.errors`
reinterpret.py  memory as elements of another dtype
driver.py       the device that kernels run on, `triton.runtime.driver.active`
knobs.py        what environment variables decide, `triton.knobs`
compiler.py     compiling without a launch, `triton.compile`
"""
