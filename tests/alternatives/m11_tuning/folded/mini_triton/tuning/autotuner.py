"""Context managers and plain loops instead of dictionaries built at once."""

from contextlib import contextmanager

from mini_triton.tuning.results import decisive_time


@contextmanager
def between_hooks(tuner, config, arguments):
    """A context with the hooks before and after."""
    if config.pre_hook is not None:
        config.pre_hook(arguments)
    tuner.pre_hook(arguments)
    failure = None
    try:
        yield
    except Exception as error:
        failure = error
    tuner.post_hook(arguments, exception=failure)
    if failure is not None:
        raise failure


class Autotuner:
    def prepare(self, arguments, reset_only=False):
        present = {name: value for name, value in arguments.items() if value is not None}
        for name in filter(present.__contains__, self.reset_to_zero):
            zero(present[name])
        if reset_only:
            return
        self.restore_copies.clear()
        for name in self.restore_value:
            if name in present:
                self.restore_copies[name] = copy_of(present[name])

    def restore(self, arguments, exception):
        while self.restore_copies:
            name, copy = self.restore_copies.popitem()
            put_back(arguments[name], copy)

    def trial(self, config, args, kwargs):
        current = dict(kwargs)
        current.update(config.all_kwargs())
        with between_hooks(self, config, {**self.nargs, **current}):
            self.fn.run(*args, **current)

    def prune_configs(self, kwargs):
        survivors = self.configs[:]
        if self.early_config_prune is not None:
            survivors = [*self.early_config_prune(survivors, self.nargs, **kwargs)]
        if not survivors:
            raise AutotunerError("No valid autotuner configs after pruning.")
        if self.perf_model is None:
            return survivors
        match self.configs_top_k:
            case int(count) if count >= 1:
                pass
            case float(share) if 0.0 <= share <= 1.0:
                count = int(len(self.configs) * share) or 1
            case other:
                raise TypeError(f"top_k is {other!r}, which is neither an int nor a share")
        if count >= len(survivors):
            return survivors
        estimates = []
        for place, config in enumerate(survivors):
            estimates.append((self.perf_model(**self.nargs, **kwargs, **config.all_kwargs()), place))
        return [survivors[place] for _, place in sorted(estimates)[:count]]

    def key_of(self, arguments):
        known = {name: arguments[name] for name in self.arg_names if name in arguments}
        key = []
        for name in self.keys:
            if name in known:
                key.append(known[name])
        key.extend(str(value.dtype) for value in known.values() if getattr(value, "dtype", None) is not None)
        key.append(device_of(arguments))
        return tuple(key)

    def time(self, config, args, kwargs):
        both = sorted(set(kwargs).intersection(config.kwargs))
        if both:
            raise ValueError(f"Conflicting meta-parameters: {both}")

        def once():
            self.trial(config, args, kwargs)

        try:
            times = self.do_bench(once, quantiles=QUANTILES)
        except UNFIT as error:
            self.failures[config] = error
            times = NEVER
        return times

    def choose(self, configs, args, kwargs):
        self.failures, self.configs_timings = {}, {}
        best = None
        for config in configs:
            times = self.configs_timings[config] = self.time(config, args, kwargs)
            if config in self.failures:
                continue
            if best is None or decisive_time(times) < decisive_time(self.configs_timings[best]):
                best = config
        if best is None:
            raise AutotunerError(explain_failures(self.base_fn.__name__, self.failures))
        return best

    def launch(self, args, kwargs):
        match self.configs:
            case [single]:
                self.best_config = single
            case _:
                key = self.key_of(self.nargs | kwargs)
                try:
                    self.best_config = self.cache[key]
                except KeyError:
                    self.best_config = self.cache[key] = self.tune(key, args, kwargs)
        options = self.best_config.all_kwargs()
        if self.best_config.pre_hook is not None:
            self.best_config.pre_hook(self.nargs | kwargs | options)
        return self.fn.run(*args, **kwargs, **options)


class Heuristics:
    def run(self, *args, **kwargs):
        arguments = dict(zip(self.arg_names, args, strict=False))
        arguments.update(kwargs)
        for name in self.values:
            arguments[name] = kwargs[name] = self.values[name](dict(arguments))
        return self.fn.run(*args, **kwargs)
