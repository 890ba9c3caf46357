"""The output of `tl.device_print`, and the error of `tl.device_assert`. You can skip these files. (Given.)"""
