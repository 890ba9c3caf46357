"""Functions of the language that you can skip. (Given.)"""
