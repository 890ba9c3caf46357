"""Functions for particular devices, `tl.extra`. (Given.)"""

from mini_triton.language.extra import cuda, libdevice

__all__ = ["cuda", "libdevice"]
