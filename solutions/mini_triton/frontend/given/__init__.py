"""Parts of the front end that need not be read. (Given.)"""
