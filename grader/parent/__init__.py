"""The process that grades: it starts child processes, and checks everything that they answer."""
