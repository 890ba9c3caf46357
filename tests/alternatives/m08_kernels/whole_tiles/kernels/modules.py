class DropoutFunction:
    def forward(ctx: Any, x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
        out = dropout.dropout(x, p, seed)
        ctx.again = lambda gradient: dropout.dropout(gradient, p, seed)
        return out

    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        return ctx.again(gradients[0]), *[None] * 2


class LayerNormFunction:
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
        out, mean, rstd = layer_norm.layer_norm(x.reshape(-1, bias.shape[0]).contiguous(), weight, bias, eps)
        ctx.save_for_backward(x, weight, mean, rstd)
        return out.reshape(x.shape)

    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        x, weight, mean, rstd = ctx.saved_tensors
        dy, rows = (part.reshape(mean.shape[0], -1).contiguous() for part in (gradients[0], x))
        dx, dweight, dbias = layer_norm.layer_norm_backward(dy, rows, weight, mean, rstd)
        return dx.reshape(x.shape), dweight, dbias, None


class AttentionFunction:
    def forward(ctx: Any, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
        ctx.causal = causal
        out, logsumexp = flash_attention.attention(q.contiguous(), k.contiguous(), v.contiguous(), causal)
        ctx.save_for_backward(q, k, v, out, logsumexp)
        return out

    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        q, k, v, *kept = ctx.saved_tensors
        arrays = [x.contiguous() for x in (*gradients, q, k, v)]
        return *flash_attention.attention_backward(*arrays, *kept, causal=ctx.causal), None


class Dropout:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return DropoutFunction.apply(x, self.p, torch.randint(2**63 - 1, ()).item()) if self.training else x


class SelfAttention:
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def heads_of(rows: torch.Tensor) -> torch.Tensor:
            return rows.view(*rows.shape[:2], self.heads, -1).transpose(1, 2)

        q, k, v = map(heads_of, self.qkv(x).split(x.shape[2], dim=2))
        result = AttentionFunction.apply(q, k, v, self.causal)
        return self.out(torch.cat(result.unbind(1), dim=2))
