"""Given parts of the GPU back end that you can skip.

page.py     what became of a kernel, stage by stage, on one page
"""
