class DropoutFunction:
    def forward(ctx: Any, x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
        result = dropout.dropout(x, p, seed)
        ctx.p = p
        ctx.seed = seed
        return result

    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        gradient = gradients[0]
        dx = dropout.dropout(gradient.contiguous(), ctx.p, ctx.seed)
        return dx, None, None


class LayerNormFunction:
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
        size = x.shape[-1]
        matrix = x.contiguous().view(x.numel() // size, size)
        result, mean, rstd = layer_norm.layer_norm(matrix, weight.contiguous(), bias.contiguous(), eps)
        ctx.save_for_backward(x, weight, mean, rstd)
        return result.reshape(x.shape)

    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        x, weight, mean, rstd = ctx.saved_tensors
        gradient = gradients[0].contiguous()
        size = x.shape[-1]
        rows = x.numel() // size
        dx, dweight, dbias = layer_norm.layer_norm_backward(
            gradient.view(rows, size), x.contiguous().view(rows, size), weight.contiguous(), mean, rstd
        )
        return dx.reshape(x.shape), dweight, dbias, None


class AttentionFunction:
    def forward(ctx: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
        q = q.contiguous()
        k = k.contiguous()
        v = v.contiguous()
        result, logsumexp = flash_attention.attention(q, k, v, causal=causal)
        ctx.save_for_backward(q, k, v, result, logsumexp)
        ctx.causal = causal
        return result

    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        q, k, v, result, logsumexp = ctx.saved_tensors
        dout = gradients[0].contiguous()
        dq, dk, dv = flash_attention.attention_backward(dout, q, k, v, result, logsumexp, causal=ctx.causal)
        return dq, dk, dv, None


class Dropout:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training:
            seed = torch.randint(0, 2**31 - 1, (1,)).item()
            return DropoutFunction.apply(x, self.p, seed)
        else:
            return x


class LayerNorm:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result = LayerNormFunction.apply(x, self.weight, self.bias, self.eps)
        return result


class SelfAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, size = x.shape
        head_size = size // self.heads
        q, k, v = self.qkv(x).chunk(3, dim=2)
        q = q.reshape(batch, length, self.heads, head_size).transpose(1, 2)
        k = k.reshape(batch, length, self.heads, head_size).transpose(1, 2)
        v = v.reshape(batch, length, self.heads, head_size).transpose(1, 2)
        result = AttentionFunction.apply(q, k, v, self.causal)
        side_by_side = result.transpose(1, 2).contiguous().view(batch, length, size)
        return self.out(side_by_side)
