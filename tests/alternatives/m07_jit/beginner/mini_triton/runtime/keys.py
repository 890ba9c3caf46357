def paths(tree: ast.FunctionDef) -> list[str]:
    own = []
    for argument in ast.walk(tree.args):
        if isinstance(argument, ast.arg):
            own.append(argument.arg)
    own = own + written(tree.body)
    found = []
    for statement in tree.body:
        for node in ast.walk(statement):
            text = dotted(node)
            if text == "":
                continue
            first = text.split(".")[0]
            if first in own:
                continue
            if text not in found:
                found.append(text)
    return found


def references(*functions: JITFunction) -> list[Reference]:
    found = []
    waiting = list(functions)
    done = []
    while waiting:
        caller = waiting.pop(0)
        if caller.fn in done:
            continue
        done.append(caller.fn)
        for path in paths(caller.tree):
            value = resolve(caller.globals, path)
            if matters(value):
                found.append(Reference(caller, path, value))
            callee = as_function(value)
            if callee is not None:
                waiting.append(callee)
    return found


def key(function: JITFunction, arguments: Mapping[str, Specialized], options: Options) -> str:
    texts = []
    texts.append(described(function))
    for version in versions():
        texts.append(version)
    texts.append(repr(options))
    functions = [function]
    for name in arguments:
        functions = functions + functions_in(arguments[name].value)
    for reference in references(*functions):
        texts.append(reference.function.fn.__qualname__)
        texts.append(reference.path)
        texts.append(described(reference.value))
    for name in arguments:
        texts.append(name)
        texts.append(arguments[name].type)
        texts.append(str(arguments[name].divisible))
        texts.append(spelled(arguments[name].value))
    return digest(texts)
