"""Tests of the kata, and the oracles that judge it."""
