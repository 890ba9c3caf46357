"""For instructors: the course for learners, the grades of a class, and reports for learning platforms."""
