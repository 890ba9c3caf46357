"""Random cases: plain data, from which the tests build what they need."""
