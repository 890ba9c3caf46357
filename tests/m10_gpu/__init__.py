"""The graded tests of milestone 10."""
