"""The same without pattern matching: a handler for each kind of node, and plain loops."""

import inspect
from pathlib import Path


def read(function):
    code = function.__code__
    for node in ast.walk(ast.parse(Path(inspect.getsourcefile(function)).read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.lineno == code.co_firstlineno:
            return node


def _number(kernel, node):
    if type(node.value) not in (int, float):
        raise SyntaxError(f"{node.value!r} is not a number")
    return node.value


def _binary(kernel, node):
    names = {ast.Add: "Add", ast.Sub: "Sub", ast.Mult: "Mult"}
    if type(node.op) not in names:
        raise SyntaxError("an operator that is not known")
    left = kernel.expression(node.left)
    return kernel.operate(names[type(node.op)], left, kernel.expression(node.right))


def _comparison(kernel, node):
    if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Lt):
        raise SyntaxError("only `a < b`")
    left = kernel.expression(node.left)
    return kernel.operate("Lt", left, kernel.expression(node.comparators[0]))


def _call(kernel, node):
    if ast.unparse(node.func) not in {f"tl.{name}" for name in LANGUAGE}:
        raise SyntaxError("an unknown function")
    arguments = []
    for argument in node.args:
        arguments.append(kernel.expression(argument))
    options = {}
    for keyword in node.keywords:
        options[keyword.arg] = kernel.expression(keyword.value)
    return getattr(kernel, node.func.attr)(*arguments, **options)


def _variable(kernel, node):
    try:
        return kernel.names[node.id]
    except KeyError:
        raise SyntaxError(f"{node.id} is not known") from None


HANDLERS = {
    ast.Constant: _number,
    ast.Name: _variable,
    ast.BinOp: _binary,
    ast.Compare: _comparison,
    ast.Call: _call,
}


class Kernel:
    def expression(self, node):
        if type(node) not in HANDLERS:
            raise SyntaxError(f"{type(node).__name__} is not known")
        return HANDLERS[type(node)](self, node)

    def statement(self, node):
        if isinstance(node, ast.Expr):
            if not isinstance(getattr(node.value, "value", None), str):
                self.expression(node.value)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self.names.update({node.targets[0].id: self.expression(node.value)})
        else:
            raise SyntaxError(f"{type(node).__name__} is not known")

    def alike(self, left, right):
        size = left.type.size or right.type.size
        if right.type.size not in (None, size):
            raise SyntaxError(f"{left.type} does not fit {right.type}")
        blocks = []
        for op in (left, right):
            if op.type.size is None:
                op = self.emit("tt.splat", op, type=Type(op.type.element, size))
            blocks.append(op)
        return tuple(blocks)


def line(op, names):
    parts = [f'"{op.name}"(' + ",".join(names[operand] for operand in op.operands) + ")"]
    if op.attributes:
        parts.append("<{" + ", ".join(key + " = " + spell(value) for key, value in op.attributes.items()) + "}>")
    parts.append(": (" + ",".join(str(operand.type) for operand in op.operands) + ") ->")
    parts.append(str(op.type))
    if op.type != NOTHING:
        parts = [names[op], "=", *parts]
    return " ".join(parts)


def multiples_of_16(arguments):
    found = set()
    for name, argument in arguments.items():
        number = argument if isinstance(argument, int) else argument.__array_interface__["data"][0]
        if not number & 15:
            found.add(name)
    return found


def load(array, at, mask):
    result = np.zeros(at.size, array.dtype)
    for place, (i, inside) in enumerate(zip(at.ravel(), mask.ravel(), strict=True)):
        if inside:
            result[place] = array[i]
    return result.reshape(at.shape)


def store(array, at, value, mask):
    places = np.flatnonzero(mask)
    np.put(array, at.ravel()[places], value.ravel()[places])


def launch(kernel, grid, arguments):
    execute(kernel, arguments, np.arange(grid, dtype=np.int32).reshape(grid, 1))
