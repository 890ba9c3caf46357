"""mini_triton: a small, real Triton compiler. Stages, in order: language, frontend, ir, transforms, codegen, runtime."""
