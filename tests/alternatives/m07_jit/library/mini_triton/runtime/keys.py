from collections import deque


def paths(tree: ast.FunctionDef) -> list[str]:
    class Finder(ast.NodeVisitor):
        def __init__(self) -> None:
            self.own = {node.arg for node in ast.walk(tree.args) if isinstance(node, ast.arg)} | set(written(tree.body))
            self.found: dict[str, None] = {}

        def visit(self, node: ast.AST) -> None:
            text = dotted(node)
            if text and text.split(".", 1)[0] not in self.own:
                self.found[text] = None
            self.generic_visit(node)

    finder = Finder()
    for statement in tree.body:
        finder.visit(statement)
    return [*finder.found]


def references(*functions: JITFunction) -> list[Reference]:
    found: list[Reference] = []
    queue = deque(functions)
    seen = {function.fn for function in functions}
    while queue:
        caller = queue.popleft()
        for path in paths(caller.tree):
            value = resolve(caller.globals, path)
            found += [Reference(caller, path, value)] * matters(value)
            callee = as_function(value)
            if callee and callee.fn not in seen:
                seen.add(callee.fn)
                queue.append(callee)
    return found


def key(function: JITFunction, arguments: Mapping[str, Specialized], options: Options) -> str:
    hash = hashlib.sha256()
    given = functions_in([value for _, _, value in arguments.values()])
    parts: list[Any] = [described(function), versions(), options]
    parts += [(r.function.fn.__qualname__, r.path, described(r.value)) for r in references(function, *given)]
    parts += [(name, type, divisible, spelled(value)) for name, (type, divisible, value) in arguments.items()]
    for part in parts:
        hash.update(repr(part).encode())
    return hash.hexdigest()
