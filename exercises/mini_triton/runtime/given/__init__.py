"""Given parts of the runtime that you can skip."""
