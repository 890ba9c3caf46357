// Compile Python files with the page's own Python, so that workers start faster: node compile.mjs STDLIB COURSE.
import fs from "node:fs";
import { loadPyodide } from "pyodide";

const [stdlib, course] = process.argv.slice(2);
const pyodide = await loadPyodide();
pyodide.FS.writeFile("/stdlib.zip", fs.readFileSync(stdlib));
pyodide.FS.writeFile("/course.zip", fs.readFileSync(course));
pyodide.runPython(`
import io, marshal, re, zipfile
from importlib._bootstrap_external import _code_to_hash_pyc
from importlib.util import cache_from_source, source_hash

UNUSED = re.compile("(ensurepip|idlelib|lib2to3|pydoc_data|test|tkinter|turtledemo|venv|wsgiref)/|turtle.py|pydoc.py")

def compiled(source, place):
    """The file that Python would keep of a source; Python uses it without looking at the source."""
    code = compile(source, place, "exec", dont_inherit=True, optimize=0)
    return bytes(_code_to_hash_pyc(code, source_hash(source), checked=False))

def pack(archive, root, alone, beside):
    """Compile files: those in 'alone' need no source, those in 'beside' keep it."""
    packed = io.BytesIO()
    with zipfile.ZipFile(archive) as files, zipfile.ZipFile(packed, "w") as out:
        def put(name, data):
            out.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, 9)
        for name in sorted(files.namelist()):
            data = files.read(name)
            is_source = name.endswith(".py")
            if is_source and alone.match(name):
                put(name + "c", compiled(data, root + name))
                continue
            put(name, data)
            if is_source and beside.match(name):
                put(cache_from_source(name), compiled(data, root + name))
    open(archive, "wb").write(packed.getvalue())

with zipfile.ZipFile("/stdlib.zip") as files, zipfile.ZipFile("/used.zip", "w") as out:
    for name in files.namelist():
        if not UNUSED.match(name):
            out.writestr(name, files.read(name))
pack("/used.zip", "/lib/python314.zip/", re.compile(""), re.compile("$^"))
pack("/course.zip", "/course/", re.compile(r"\\.site/"), re.compile("grader/|tests/(oracles|support)/"))
`);
fs.writeFileSync(stdlib, pyodide.FS.readFile("/used.zip"));
fs.writeFileSync(course, pyodide.FS.readFile("/course.zip"));
