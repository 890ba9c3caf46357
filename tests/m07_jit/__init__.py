"""The graded tests of milestone 7."""
