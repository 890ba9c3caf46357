import bench,re,collections
import numpy as np
from tests.corpus import CASES
from tests.oracles import modules
from tests.support.emulator import compiled
from mini_triton.ir.parser import parse_module
from mini_triton.backends.threads import back_end
from mini_triton.backends.threads.choice import Choice
from mini_triton.backends.threads.instructions import Unsupported
from mini_triton.backends import layouts, ptx
from mini_triton.transforms.manager import optimize
from mini_triton.ir.types import shape_of, element_type
OP=re.compile(r"(tt\.load|tt\.store|ttg\.async_copy_global_to_local) .*?tensor<((?:\d+x)+)!tt\.ptr<(\w+)>, (#\w+)>")
def owners(layout,shape):
    out=np.zeros(shape,int)
    inv={}
    for t in reversed(range(1<<len(layout.threads))):
        for r in layout.distinct: out[layout.index(r,t)]=t
    return out
eq=tot=weq=wtot=0
for case in CASES:
    c=compiled(case,'sm_80')
    try:
        m=parse_module(modules.text(case)); optimize(m)
        code=back_end.compile_module(m,4,90)
    except Unsupported: continue
    a,b=set(ptx.accesses(code.ptx)),set(ptx.accesses(c.ptx))
    b={(k.replace('copy','load'),n) for k,n in b}
    wtot+=1; weq+=a==b
    if a!=b: print('widths',case,'ours only',a-b,'theirs only',b-a)
    blocked=layouts.layouts(c.ttgir)
    theirs=set()
    for op,shape,el,name in OP.findall(c.ttgir):
        if name in blocked:
            shape=tuple(int(x) for x in shape.split('x') if x)
            theirs.add((op.replace('ttg.async_copy_global_to_local','tt.load'),shape,el,blocked[name].owners(shape).tobytes()))
    ch=Choice(m,4); mine=set()
    for op in ch.accesses:
        t=op.operands[0].type; shape=t.shape
        mine.add((op.name,shape,str(element_type(t).pointee),owners(ch.of_access(op),shape).astype(np.int64).tobytes()))
    tot+=len(mine); eq+=len(mine&theirs)
    if mine-theirs: print('layouts',case,[(x[:3]) for x in mine-theirs],[x[:3] for x in theirs-mine])
print('widths equal',weq,'of',wtot,'layouts equal',eq,'of',tot)
