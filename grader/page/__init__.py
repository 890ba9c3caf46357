"""The grader in a web page, where Pyodide runs Python: the page starts workers in place of processes.

`parent` is the grader's command line, `child` is the process that runs graded code, and `absent` supplies what Pyodide
lacks. All three also run in CPython, where the tests compare them with the ordinary command line.
"""
