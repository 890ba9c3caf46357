"""What only some devices have, `tl.extra`. (Given.)"""

from mini_triton.language.extra import libdevice

__all__ = ["libdevice"]
