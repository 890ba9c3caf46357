"""Blocks on which tests try the builder, and random structured programs."""
