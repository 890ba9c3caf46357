"""What `python -m kernels.softmax` shows: a check, pictures of who touches what, times. Given; skip it.

`demo` has what the demos share, `pictures` the demo of each module.
"""
