"""Blocks for trying the builder, and random structured programs."""
