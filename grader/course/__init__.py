"""The course as data: milestones and tasks, markers, stubs, and the learner's files."""
