"""The graded tests of milestone 3."""
