"""The graded tests of milestone 5."""
