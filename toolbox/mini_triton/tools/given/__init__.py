"""Templates of the files that the tools write. (Given.)"""
