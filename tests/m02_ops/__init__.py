"""The graded tests of milestone 2."""
