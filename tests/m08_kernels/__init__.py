"""The graded tests of milestone 8."""
