"""The result of grading, and how it is shown: on the screen, in files and in the progress database."""
