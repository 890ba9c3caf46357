"""The graded tests of milestone 1."""
