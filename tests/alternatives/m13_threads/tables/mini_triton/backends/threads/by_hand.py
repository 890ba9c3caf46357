def add(emitter: Emitter, threads: int) -> None:
    thread, program = (emitter.op("mov.u32", name) for name in ("%tid.x", "%ctaid.x"))
    index = emitter.op("add.s32", thread, emitter.op("mul.lo.s32", program, threads))
    outside = emitter.op("setp.ge.s32", index, emitter.op("ld.param.b32", "[add_param_3]"))
    emitter.do("ret", guard=outside)
    distance = emitter.op("cvt.s64.s32", emitter.op("shl.b32", index, 2))
    bases = [emitter.op("ld.param.b64", f"[add_param_{number}]") for number in range(3)]
    x, y, out = (Address(emitter.op("add.s64", base, distance)) for base in bases)
    total = emitter.op("add.f32", *(emitter.op("ld.global.b32", place) for place in (x, y)))
    emitter.do("st.global.b32", out, total)
    emitter.do("ret")
