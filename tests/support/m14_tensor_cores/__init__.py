"""What the tests of milestone 14 share."""
