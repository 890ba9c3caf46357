class DropoutFunction:
    def forward(ctx: Any, x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
        ctx.arguments = p, seed
        return dropout.dropout(x, *ctx.arguments)

    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        return dropout.dropout(*gradients, *ctx.arguments), None, None


class LayerNormFunction:
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
        ctx.shape = x.shape
        x = x.reshape(-1, weight.numel()).contiguous()
        y, mean, rstd = layer_norm.layer_norm(x, weight, bias, eps)
        ctx.save_for_backward(x, weight, mean, rstd)
        return y.view(ctx.shape)

    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        x, *others = ctx.saved_tensors
        dx, *rest = layer_norm.layer_norm_backward(gradients[0].reshape_as(x).contiguous(), x, *others)
        return dx.view(ctx.shape), *rest, None


class AttentionFunction:
    def forward(ctx: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
        ctx.causal = causal
        qkv = [x.contiguous() for x in (q, k, v)]
        saved = flash_attention.attention(*qkv, causal)
        ctx.save_for_backward(*qkv, *saved)
        return saved[0]

    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        do = gradients[0].contiguous()
        return *flash_attention.attention_backward(do, *ctx.saved_tensors, ctx.causal), None


class Dropout:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        seed = int(torch.randint(0, 2**31, (1,)))
        return DropoutFunction.apply(x, self.p, seed) if self.training else x


class LayerNorm:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return LayerNormFunction.apply(x, *self.parameters(), self.eps)


class SelfAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).transpose(1, 3).unbind(2)
        return self.out(AttentionFunction.apply(q, k, v, self.causal).transpose(1, 2).flatten(2))
