"""Functions of the language that teach nothing new: skip them. (Given.)"""
