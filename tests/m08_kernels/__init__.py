"""Task after task of milestone 8."""
