"""What only NVIDIA's GPUs have, `tl.extra.cuda`. (Given.)"""

from mini_triton.language.extra import libdevice

__all__ = ["libdevice"]
