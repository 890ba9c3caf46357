"""TTIR text as IR: what real Triton prints, and what our printer prints. (Given.)

    module = parse_module(text)

Read in this order: `lexer` (tokens), `literals` (numbers and types), `attributes`, `operations`, `forms`.
"""

from mini_triton.ir.parser.operations import parse_module

__all__ = ["parse_module"]
