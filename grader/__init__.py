"""The grader: it chooses whose code runs, tests it, and reports."""
