def compile_kernel(
    function: KernelSource,
    arguments: Mapping[str, Specialized],
    values: Mapping[str, Any],
    options: Options,
    references: Sequence[Reference],
) -> CompiledKernel:
    constants = {name: unwrap(to_python(values[name])) for name in arguments if arguments[name].type == "constexpr"}
    hash = compute_key(function, references, arguments, options)
    compilation = Compilation(function, arguments, constants, options, hash)
    match inspection.is_wanted() or inspection.is_set(cache.ALWAYS_COMPILE), cache.load(hash):
        case False, dict() as entry:
            return restore_kernel(compilation, entry)
    made = CompiledKernel(compilation, *run_stages(stages_for("cpu"), compilation))
    cache.store(hash, entry_of(made))
    return made


class CompiledKernel:
    def launch_on_cpu(self, grid: tuple[int, int, int], values: Mapping[str, Any], memory: Mapping[str, Any]) -> None:
        check_writable(self.name, memory, self.program.stored)
        check_devices(self.name, memory)
        buffers = {name: Buffer.of(name, value) for name, value in memory.items()}
        passed = {name: to_python(values[name]) for name in self.parameters if name not in buffers} | buffers
        try:
            self.program(grid, [passed[name] for name in self.parameters], known())
        except OutOfBounds as error:
            match memory.get(error.buffer.name):
                case None:
                    raise explain_address(self.name, error) from None
                case array:
                    raise explain_access(self.name, error, tuple(array.shape)) from None
