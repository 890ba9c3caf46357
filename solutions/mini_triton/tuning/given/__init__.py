"""Given parts of tuning that you can skip.

memory.py      arrays and tensors: to zero, copied, put back; what a kernel stores to
results.py     results of an autotuner: on disk, and printed
pictures.py    plots and heat maps
"""
