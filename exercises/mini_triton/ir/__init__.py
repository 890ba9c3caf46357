"""The IR: types, operations, printer, parser, builder. Triton's own dialects, in plain Python."""
