"""Analyses: what is known about a kernel before it runs. (Given.)

flow.py    where a value comes from, and the driver that repeats an analysis until nothing changes
"""
