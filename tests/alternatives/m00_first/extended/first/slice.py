"""A slice that was taught more than the tasks ask for: negation, `>`, division, `+=`, unpacking. It must still pass."""

import inspect
import textwrap

OPERATORS["Div", "f32", "f32"] = ("arith.divf", np.true_divide)


def read(function):
    lines, first = inspect.getsourcelines(function)
    return ast.parse("\n" * (first - 1) + textwrap.dedent("".join(lines))).body[0]


class Kernel:
    def expression(self, node):
        match node:
            case ast.Constant(bool() | int() | float() as number):
                return number
            case ast.Name(name) if name in self.names:
                return self.names[name]
            case ast.UnaryOp(ast.USub(), value):
                value = self.expression(value)
                is_float = isinstance(value, float) or isinstance(value, Op) and value.type.element == "f32"
                return self.operate("Sub", -0.0 if is_float else 0, value)
            case ast.Compare(left, [ast.Gt()], [right]):
                left, right = self.expression(left), self.expression(right)
                return self.operate("Lt", right, left)
            case ast.BinOp(left, operator, right) | ast.Compare(left, [operator], [right]):
                left, right = self.expression(left), self.expression(right)
                return self.operate(type(operator).__name__, left, right)
            case ast.Call(ast.Attribute(ast.Name("tl"), name), arguments, keywords) if name in LANGUAGE:
                values = [self.expression(argument) for argument in arguments]
                return getattr(self, name)(
                    *values, **{keyword.arg: self.expression(keyword.value) for keyword in keywords}
                )
            case ast.Tuple(elements):
                return tuple(self.expression(element) for element in elements)
        raise SyntaxError(ast.unparse(node))

    def statement(self, node):
        match node:
            case ast.Assign([ast.Tuple(targets)], value):
                values = self.expression(value)
                self.names.update(zip((target.id for target in targets), values, strict=True))
            case ast.Assign([ast.Name(name)], value):
                self.names[name] = self.expression(value)
            case ast.AugAssign(ast.Name(name) as target, operator, value):
                self.names[name] = self.expression(ast.copy_location(ast.BinOp(target, operator, value), node))
            case ast.Pass() | ast.Expr(ast.Constant(str())):
                return
            case ast.Expr(value):
                self.expression(value)
            case _:
                raise SyntaxError(ast.unparse(node))
