"""The fusion heads against torch's own layers, put together in the plain order."""

import pytest
import torch
import torch.nn.functional as F

from sdtps.models.dgaf import DualGatedFusion
from sdtps.models.frca import FourierChannelAttention
from sdtps.models.moe import COMBINATIONS, GeneralFusion
from sdtps.models.pooling import ask
from sdtps.types import Grid

DIM, BATCH, ROWS = 64, 3, 20


def shaken(module):
    g = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for t in (*module.parameters(), *(b for b in module.buffers() if b.is_floating_point())):
            t += 0.1 * torch.randn(t.shape, generator=g)
        for name, buffer in module.named_buffers():
            if name.endswith("running_var"):
                buffer.abs_().add_(0.5)
    return module.eval()


def made(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_asking_is_multi_head_attention_in_another_order():
    layer, question, rows = (
        shaken(torch.nn.MultiheadAttention(DIM, 8, batch_first=True)),
        made(1, 1, DIM),
        made(BATCH, ROWS, DIM),
    )
    want, weights = layer(question.expand(BATCH, -1, -1), rows, rows)
    answer, seen = ask(layer, question, rows)
    torch.testing.assert_close(answer, want[:, 0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(seen, weights[:, 0], atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("heads", [0, 4])
def test_the_experts_of_demo(heads):
    fusion = shaken(GeneralFusion(DIM, heads))
    patches = {m: made(BATCH, ROWS, DIM, seed=i) for i, m in enumerate(("rgb", "nir", "tir"))}
    vectors = {m: made(BATCH, DIM, seed=9 + i) for i, m in enumerate(("rgb", "nir", "tir"))}
    with torch.no_grad():
        got = fusion(patches, vectors)
        names = {"r": "rgb", "n": "nir", "t": "tir"}
        parts = []
        for combination in COMBINATIONS:
            rows = torch.cat([x for c in combination for x in (vectors[names[c]][:, None], patches[names[c]])], 1)
            layer = getattr(fusion, combination)
            token = getattr(fusion, f"{combination}_token").expand(-1, BATCH, -1)
            parts.append(layer(token, rows.transpose(0, 1), rows.transpose(0, 1))[0][0])
        if not heads:
            torch.testing.assert_close(got.feature, torch.cat(parts, -1), atol=1e-5, rtol=1e-4)
            return
        gate = fusion.moe.gating_network.gate
        query = gate.q_(gate.linear_re(torch.cat(parts, -1))).reshape(BATCH, heads, -1)
        want, gates = [], []
        for h in range(heads):
            piece = slice(h * DIM // heads, (h + 1) * DIM // heads)
            keys = torch.stack([gate.k_(x)[:, piece] for x in parts], 1)
            gates.append(((keys * query[:, h, None]).sum(-1) / (DIM // heads) ** 0.5).softmax(-1))
            experts = fusion.moe.experts[h].expertHead
            want.append(
                torch.stack([e.mlp(x[:, piece]) for e, x in zip(experts, parts, strict=True)], 1) * gates[h][..., None]
            )
    torch.testing.assert_close(got.feature, torch.cat(want, -1).flatten(1), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(got.numbers["experts"], torch.stack(gates).mean(0), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(got.numbers["experts"].sum(-1), torch.ones(BATCH))
    assert got.numbers["attention_rn"].shape == (BATCH, 2 * (ROWS + 1))


@pytest.mark.parametrize(("tokens", "inputs", "tau"), [(False, 3, 1.0), (True, 3, 0.5), (True, 6, 1.0)])
def test_dgaf(tokens, inputs, tau):
    fusion = shaken(DualGatedFusion(DIM, inputs=inputs, tokens=tokens, tau=tau))
    given = [made(BATCH, *((ROWS,) if tokens else ()), DIM, seed=i) for i in range(inputs)]
    with torch.no_grad():
        got = fusion(given)
        vectors = given
        if tokens:
            questions = list(fusion.queries) if inputs == 6 else [fusion.rgb_query, fusion.nir_query, fusion.tir_query]
            pooled = [
                fusion.attn_pool(q.expand(BATCH, -1, -1), t, t)[0][:, 0] for q, t in zip(questions, given, strict=True)
            ]
            vectors = [fusion.attn_norm(p) for p in pooled]
        scores = []
        for h in vectors:
            p = (h.abs() + 1e-8) / (h.abs() + 1e-8).sum(-1, keepdim=True)
            scores.append(fusion.entropy_proj(h).mean(-1) * torch.exp((p * torch.log(p + 1e-8)).sum(-1) / tau))
        sure = torch.stack(scores, -1).softmax(-1)
        gates = fusion.gate_net(torch.cat(vectors, -1))
        alpha = torch.sigmoid(fusion._alpha)
        fused = sum((alpha * sure[:, i, None] + (1 - alpha) * gates[:, i, None]) * h for i, h in enumerate(vectors))
        want = torch.cat([h + fusion.modal_enhance(fused) for h in vectors], -1)
    torch.testing.assert_close(got.feature, want, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(got.numbers["gates"], gates, atol=1e-5, rtol=1e-4)


def test_frca_keeps_the_grid_and_mixes_neighbours_only_through_its_convolutions():
    grid, module = Grid(6, 3), shaken(FourierChannelAttention(50))
    patches = made(BATCH, grid.patches, 50)
    with torch.no_grad():
        got = module(patches, grid)
        x = patches.transpose(1, 2).reshape(BATCH, 50, 6, 3)
        f = module.clc3.net[2](F.leaky_relu(module.clc3.net[0](x), 0.1))
        means = torch.zeros(BATCH, 56)  # 7 rows of 8 hold 50 channels
        means[:, :50] = f.flatten(2).mean(-1)
        spectrum = torch.fft.fft2(means.reshape(BATCH, 1, 7, 8))
        amplitude, phase = spectrum.abs(), spectrum.angle()
        changed = torch.polar(amplitude * module.clc1_amp(amplitude), phase * module.clc1_pha(phase))
        weight = torch.fft.ifft2(changed).real.flatten(1)[:, :50].sigmoid()
        want = module.dnru.gn(module.dnru.dwconv(f * weight[..., None, None] + x)).relu()
    torch.testing.assert_close(got, want.flatten(2).transpose(1, 2), atol=1e-5, rtol=1e-4)
    assert got.shape == patches.shape
