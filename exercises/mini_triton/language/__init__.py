"""The language that kernels are written in: what `tl.*` names mean."""
