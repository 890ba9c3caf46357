"""The output of `tl.device_print`, the error of `tl.device_assert`, and memory. You can skip these files. (Given.)"""
