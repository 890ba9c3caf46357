def without_internals(error: CompilationError) -> CompilationError:
    if os.environ.get(DEBUGGING):
        return error
    error.__cause__, error.__traceback__, error.__suppress_context__ = None, None, True
    return error
