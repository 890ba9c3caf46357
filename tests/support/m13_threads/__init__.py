"""What the tests of milestone 13 share."""
