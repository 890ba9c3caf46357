"""Expressions of the language, compared with real Triton's by IR and by value."""
