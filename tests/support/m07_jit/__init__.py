"""A cache folder for the tests of launches."""
