"""The compiler of a pass outside the back end; the options are bound to it."""


def compile_one(options, graph_module, example_inputs):
    made = compile_graph(graph_module.graph, **options)
    programs.append(made)
    return made.run


def mini_triton(graph, inputs, options=None):
    one = functools.partial(compile_one, dict(options) if options else {})
    settings = {"fw_compiler": one, "bw_compiler": one, "keep_inference_input_mutations": True}
    settings["decompositions"] = decompositions()
    settings["partition_fn"] = min_cut_rematerialization_partition
    return aot_autograd(**settings)(graph, inputs)
