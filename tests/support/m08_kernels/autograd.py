"""Results and gradients of functions in `kernels.modules`, in this process or in real Triton's."""

import importlib
from collections.abc import Callable, Sequence
from typing import Any


def modules() -> Any:
    """`kernels.modules`, imported late, because it imports torch, which a machine may lack."""
    return importlib.import_module("kernels.modules")


def of_function(name: str, gradient: Any, *arguments: Any) -> tuple[Any, ...]:
    """The result of `name.apply(*arguments)`, and the gradients of those arguments that are tensors."""
    import torch

    arguments = tuple(x.detach().requires_grad_() if isinstance(x, torch.Tensor) else x for x in arguments)
    result = getattr(modules(), name).apply(*arguments)
    inputs = [x for x in arguments if isinstance(x, torch.Tensor)]
    return result.detach(), *torch.autograd.grad(result, inputs, gradient)


def of_function_changed(name: str, gradient: Any, x: Any, *others: Any) -> Any:
    """The gradient of x, requested after a change to x; None if PyTorch notices the change and refuses."""
    import torch

    x = x.detach().requires_grad_()
    changing = x.clone()
    result = getattr(modules(), name).apply(changing, *others)
    with torch.no_grad():
        changing.zero_()
    try:
        return torch.autograd.grad(result, x, gradient)[0]
    except RuntimeError as error:
        if "inplace" in str(error):
            return None
        raise


def of_module(name: str, options: dict[str, Any], gradient: Any, x: Any, *parameters: Any) -> tuple[Any, ...]:
    """The result of `name(**options)(x)` with these parameters, and the gradients of x and of the parameters."""
    import torch

    module = getattr(modules(), name)(**options).to(x.device)
    with torch.no_grad():
        for parameter, value in zip(module.parameters(), parameters, strict=True):
            parameter.copy_(value)
    x = x.detach().requires_grad_()
    result = module(x)
    return result.detach(), *torch.autograd.grad(result, [x, *module.parameters()], gradient)


def expected_of(function: Callable[..., Any], gradient: Any, *inputs: Any) -> Sequence[Any]:
    """The result of a function of PyTorch's own and the gradients of its inputs, in fp64."""
    import torch

    wide = [x.detach().double().requires_grad_() for x in inputs]
    result = function(*wide)
    return result.detach(), *torch.autograd.grad(result, wide, gradient.double())
