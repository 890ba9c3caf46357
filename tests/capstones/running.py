"""Programs for questions: kernels from their text to IR, and IR run by the reference's interpreter.

The programs are texts, like questions, because a submission's process does not have our tests.
"""

COMPILE = """
import ast, itertools, linecache
from mini_triton.ir.printer import print_module
numbers = itertools.count()
HEADER = "import mini_triton as triton\\nimport mini_triton.language as tl\\n\\n"
def load(text):
    file = f"kernel_{next(numbers)}.py"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    tree = ast.parse(text)
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            function.body = ast.parse("raise RuntimeError('Python runs a kernel')").body
    namespace = {"__name__": "kernels", "__file__": file}
    exec(compile(tree, file, "exec"), namespace)
    return namespace
def built(text, signature, constants):
    from mini_triton.frontend.compiler import ast_to_ttir
    return ast_to_ttir(load(HEADER + text)["kernel"], signature=signature, constexprs=constants)
"""
"""`built(text, signature, constants)`: the module of the function `kernel` in a text.

The kernel has its source in the text, but Python cannot run it: a front end must read the source.
"""

ARGUMENTS = """
import numpy as np
NAMES = {"fp16": "float16", "fp32": "float32", "fp64": "float64", "i1": "bool", "i64": "int64"}
NAMES |= {f"{s}{w}": f"{'u' * (s == 'u')}int{w}" for s in "iu" for w in (8, 16, 32, 64)}
def some(random, kind, shape):
    dtype = np.dtype(NAMES[kind])
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    if dtype.kind == "f":
        return random.normal(size=shape).astype(dtype)
    return random.integers(0 if dtype.kind == "u" else -50, 50, shape).astype(dtype)
def arguments(seed, signature, given):
    random = np.random.default_rng(seed)
    return [
        given[name] if name in given else some(random, kind.lstrip("*"), 4096)
        for name, kind in signature.items() if kind != "constexpr"
    ]
"""
"""`arguments(seed, signature, given)`: arrays of 4096 elements for pointers, and the given numbers."""

INTERPRET = (
    ARGUMENTS
    + """
from mini_triton.ir import interpreter
from mini_triton.ir.parser import parse_module
from mini_triton.ir.verifier import verify
def interpreted(text, grid, values):
    module = parse_module(text)
    verify(module)
    buffers = [interpreter.Buffer.of("x", v) if isinstance(v, np.ndarray) else v for v in values]
    interpreter.run(module, grid, buffers)
    return [v.ravel()[:512] for v in values if isinstance(v, np.ndarray)]
"""
)
"""`interpreted(text, grid, values)`: the first elements of each array after a module has run."""

TRACE = '''
import mini_triton.language as tl
from mini_triton.ir.builder import Builder
from mini_triton.ir.core import Module, Operation
from mini_triton.ir.printer import print_module
from mini_triton.ir.scopes import function
from mini_triton.ir.types import FunctionType, PointerType, TensorType
from mini_triton.language.context import building
from mini_triton.language.signature import parse_type
from mini_triton.language.tensor import tensor
def traced(expression, values):
    """The value of an expression, and the function that computes it, with an argument for each of the values."""
    inputs, types = {}, {}
    for name, (kind, shape) in values.items():
        types[name] = parse_type(kind)
        ir = types[name].ir_type
        inputs[name] = TensorType(tuple(shape), ir) if shape else ir
    module, builder = Module(), Builder()
    with function(builder, module, "kernel", inputs) as made, building(builder):
        names = {name: tensor(v, types[name]) for name, v in zip(inputs, made.arguments)}
        value = eval(expression, {"tl": tl} | names)
        value = value if isinstance(value, (tuple, list)) else [value]
        value = [v if isinstance(v, tensor) else tl.full((), v, tl.int32) for v in value if v is not None]
    (operation,) = module.body.operations
    block = operation.regions[0].block
    block.operations[-1].erase()
    end = Operation("tt.return", [v.handle for v in value])
    block.append(end)
    results = tuple(v.handle.type for v in value)
    operation.attributes["function_type"] = FunctionType(tuple(inputs.values()), results)
    return [str(v.dtype) for v in value], print_module(module)
def all_traced(expressions, values):
    found = []
    for expression in expressions:
        try:
            found.append(traced(expression, values))
        except Exception as error:
            found.append(error_name(error))
    return found
def error_name(error):
    stub = isinstance(error, NotImplementedError)
    if stub:
        raise error
    return "refused" if isinstance(error, (TypeError, ValueError)) else kind_of(error)
'''
"""`all_traced(expressions, values)`: for each expression of the language, its dtypes and a function that computes it."""

EVALUATE = (
    ARGUMENTS
    + '''
from mini_triton.ir import interpreter
from mini_triton.ir.parser import parse_module
from mini_triton.ir.verifier import verify
def evaluated(found, values, seed):
    """The values of traced expressions, for the same random arguments, and what is in memory then."""
    if isinstance(found, str):
        return found
    dtypes, text = found
    module = parse_module(text)
    verify(module)
    random = np.random.default_rng(seed)
    memory, given = [], []
    for name, (kind, shape) in values.items():
        array = some(random, kind.lstrip("*"), 64 if kind[0] == "*" else tuple(shape))
        if kind[0] == "*":
            memory.append(interpreter.Buffer.of(name, array))
            at = memory[-1].address(0)
            given.append(at + np.arange(int(np.prod(shape or [1]))).reshape(shape) * array.itemsize if shape else at)
        else:
            given.append(np.asarray(array).view(f"i{array.itemsize}") if array.dtype.kind == "u" else np.asarray(array))
    block = module.body.operations[0].regions[0].block
    program = interpreter.Program(memory, {}, (3, 2, 1), (1, 1, 0))
    with np.errstate(all="ignore"):
        results = program.run(block, *given)
    return [dtypes, [np.asarray(r) for r in results], [list(np.asarray(r).shape) for r in results], [b.data for b in memory]]
'''
)
"""`evaluated(found, values, seed)`: the result of a function that `all_traced` found, for random values."""

TAKEN = '''
import symtable
def taken(source):
    """The names that a source takes from outside itself, at any depth."""
    def names(table):
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (symbol.is_global() or table is top):
                yield symbol.get_name()
        for inside in table.get_children():
            yield from names(inside)
    top = symtable.symtable(source, "<source>", "exec")
    return set(names(top)) - {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned()}
'''
"""`taken(source)`: the names that a source neither defines at its top nor in the function that uses them."""

INSPECT = (
    TAKEN
    + '''
import ast, types
import numpy
FUNCTIONS = ("range", "len", "min", "max", "int", "float", "bool", "abs", "any", "all", "tuple", "list", "zip", "enumerate", "slice")
STATEMENTS = (
    ast.FunctionDef, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.If, ast.For, ast.While,
    ast.Break, ast.Continue, ast.Pass, ast.Return, ast.Assert,
)
FILES = "fromfile fromregex genfromtxt load loadtxt memmap save savetxt savez savez_compressed test".split()
METHODS = "ctypes dump dumps tofile".split()
def inspected(source, header, given):
    """The functions in a generated source after its header. They may use only `given` names, and their own names."""
    def meaning(node):
        match node:
            case ast.Name(id=name):
                return given.get(name)
            case ast.Attribute(value=value, attr=name):
                module = meaning(value)
                return getattr(module, name, None) if isinstance(module, types.ModuleType) else None
    assert source.startswith(header), "a source without the usual imports"
    source = source[len(header):]
    closed = [getattr(numpy, name) for name in FILES]
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    bases = {node.value for node in nodes if isinstance(node, ast.Attribute)}
    assert all(isinstance(node, ast.FunctionDef) for node in tree.body), "a source that runs code before the kernel"
    for name in taken(source):
        assert name[0] != "_" and (name in given or name in FUNCTIONS), f"a source that uses {name}"
    for node in nodes:
        match node:
            case ast.stmt():
                assert isinstance(node, STATEMENTS), f"a source with the statement {type(node).__name__}"
            case ast.Attribute(attr=name):
                assert name[0] != "_" and name not in METHODS, f"a source that uses {name}"
                found = meaning(node)
                assert not isinstance(found, types.ModuleType), f"a source that uses the module {name}"
                assert not any(found is function for function in closed), f"a source that uses {name}"
            case ast.Name(id=name) if node not in bases:
                assert not isinstance(given.get(name), types.ModuleType), f"a source that uses {name} as a value"
    return tree
'''
)
"""`inspected(source, header, given)`: the functions of a generated source. Raises `AssertionError` if it can reach other
code or files."""
