"""The learner's other commands."""
