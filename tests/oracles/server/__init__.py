"""The process of real Triton, `python -m tests.oracles.server`. All but `__main__` import Triton: no test imports them.

`written` makes modules of Python texts; `frontend` compiles them to TTIR; `probes` asks what is recorded in
`records/*.json`; `launches` runs kernels, on a GPU or by the interpreter; `hosts` calls the course's host functions;
`threads` records which thread of a GPU holds which element.
"""
