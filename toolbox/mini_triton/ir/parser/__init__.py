"""TTIR text as IR, whether printed by real Triton or by our printer. (Given.)

    module = parse_module(text)

Read in this order: `lexer` (tokens), `literals` (numbers and types), `attributes`, `operations`, `forms`.
"""

from mini_triton.ir.parser.operations import parse_module

__all__ = ["parse_module"]
