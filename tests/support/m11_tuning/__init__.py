"""What the tests of milestone 11 share."""
