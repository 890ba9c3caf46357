def without_internals(error: CompilationError) -> CompilationError:
    if os.environ.get(DEBUGGING):
        return error
    error.__cause__ = None
    error.__suppress_context__ = True
    error.__traceback__ = None
    return error
