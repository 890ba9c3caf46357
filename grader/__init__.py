"""The grader: whose code runs, what it is tested with, and what that shows."""
