"""The graded tests of milestone 9."""
