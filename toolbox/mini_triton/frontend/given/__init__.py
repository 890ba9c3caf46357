"""Parts of the front end that you can skip. (Given.)"""
