"""The processes that run the code under test, with its imports, limits and tests."""
