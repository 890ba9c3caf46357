"""Given parts of tuning that you can skip.

memory.py      arrays and tensors: zeroed, copied, restored; the memory that a kernel writes
results.py     an autotuner's results, on disk and printed
pictures.py    plots and heat maps
"""
