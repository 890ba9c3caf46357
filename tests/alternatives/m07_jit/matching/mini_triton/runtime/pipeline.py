def run_stages(stages: Sequence[Stage], compilation: Compilation, product: Any = None) -> tuple[Any, dict[str, Text]]:
    match stages:
        case []:
            return product, {}
        case [stage, *rest]:
            made = stage.run(product, compilation)
            match made:
                case Module():
                    verify_after(stage.name, made)
            texts: dict[str, Text] = {}
            if inspection.is_wanted() or not stage.on_request:
                texts = {stage.name: stage.text(made)}
                report(compilation, stage, texts[stage.name])
            last, others = run_stages(rest, compilation, made)
            return last, texts | others
    raise AssertionError
