"""The graded tests of milestone 4."""
