"""Logprobs of ids beside the tokens: the likeliest of a teacher, and those that a loss is differentiated by."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_client import EngineClient, RefusedError, encode, encode_columns, running
from engine_models import TINY, joined, random_batch, random_weights, read_tensors

for package in ("torch", "safetensors", "aiohttp"):
    pytest.importorskip(
        package, reason=f"skipped, because {package} is not installed: npm run test:engines installs it"
    )

BATCH, VOCABULARY = random_batch(1, TINY["vocabSize"]), TINY["vocabSize"]
NUM_ROWS = len(BATCH.derivatives["dLogprob"])
RANDOM = np.random.default_rng(2)
CHOSEN = RANDOM.integers(0, VOCABULARY, (NUM_ROWS, 4)).astype(np.int32)
D_CHOSEN = (RANDOM.normal(size=CHOSEN.shape) / NUM_ROWS).astype(np.float32)


@pytest.fixture(scope="module", params=[1, 2], ids=["1 rank", "2 ranks"])
def worker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(tmp_path_factory.mktemp("worker"), request.param) as worker:
        yield worker.url


def opened(worker: str, directory: Path, **changes: Any) -> tuple[EngineClient, Path]:
    engine = EngineClient(worker)
    weights = random_weights(engine, engine.open(TINY, **changes), directory / "weights.safetensors")
    engine.load(weights)
    return engine, weights


def test_the_likeliest_ids_have_the_logprobs_of_the_whole_vocabulary(worker: str, tmp_path: Path) -> None:
    engine, _ = opened(worker, tmp_path, maxTokensPerMicroBatch=12)
    whole = engine.forward(BATCH.tokens, BATCH.mask, temperature=0.7, topK=VOCABULARY)
    np.testing.assert_allclose(np.exp(whole["topLogprob"]).sum(1), 1, atol=1e-5)
    assert (np.diff(whole["topLogprob"]) <= 0).all()
    wanted = [row[t] for row, mask in zip(BATCH.tokens, BATCH.mask, strict=True) for t in positions(mask)]
    places = (whole["topId"] == np.asarray(wanted)[:, None]).argmax(1)
    np.testing.assert_allclose(whole["topLogprob"][range(NUM_ROWS), places], whole["logprob"], atol=1e-5)
    few = engine.forward(BATCH.tokens, BATCH.mask, temperature=0.7, topK=3)
    np.testing.assert_array_equal(few["topId"], whole["topId"][:, :3])
    asked = engine.forward(BATCH.tokens, BATCH.mask, temperature=0.7, chosen=whole["topId"])
    np.testing.assert_allclose(asked["topLogprob"], whole["topLogprob"], atol=1e-5)
    nothing = engine.forward([[1]], [[1]], topK=3)
    assert (nothing["topId"].shape, nothing["topLogprob"].shape) == ((0, 3), (0, 3))


def positions(mask: list[int]) -> list[int]:
    return [t for t, bit in enumerate(mask) if bit and t > 0]


def test_gradients_by_chosen_ids_are_those_of_finite_differences(worker: str, tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    engine, weights = opened(worker, tmp_path, optimizer={"beta1": 0.5})
    engine.forward(BATCH.tokens, BATCH.mask, graph="g", chosen=CHOSEN)
    engine.backward("g", **BATCH.derivatives, dTopLogprob=D_CHOSEN)
    engine.step(0.0)
    moments = read_tensors(engine.save(tmp_path)["optimizer"])
    prefix = "first_moment."
    gradients = {
        name.removeprefix(prefix): 2 * values for name, values in moments.items() if name.startswith(prefix)
    }
    norm = np.linalg.norm(joined(gradients))
    losses = []
    for sign in (1, -1):
        start = read_tensors(weights)
        moved = {key: start[key] + sign * 1e-2 * gradients[key] / norm for key in start}
        save_file(moved, tmp_path / "moved.safetensors")
        engine.load(tmp_path / "moved.safetensors")
        columns = engine.forward(BATCH.tokens, BATCH.mask, chosen=CHOSEN)
        losses.append(BATCH.loss(columns) + float((D_CHOSEN * columns["topLogprob"]).sum()))
    assert (losses[0] - losses[1]) / 2e-2 == pytest.approx(norm, rel=1e-2)


def test_ids_that_can_not_be_used_are_refused_by_field(worker: str, tmp_path: Path) -> None:
    engine, _ = opened(worker, tmp_path)
    wrong = CHOSEN.copy()
    wrong[3, 2] = VOCABULARY
    few = encode(BATCH.tokens, BATCH.mask, CHOSEN)
    engine.forward(BATCH.tokens, BATCH.mask, graph="g", chosen=CHOSEN)
    for field, make in (
        ("topIds", lambda: engine.forward(BATCH.tokens, BATCH.mask, chosen=wrong)),
        ("topIds", lambda: engine.post("forward", few, query={"topIds": 3})),
        ("topIds", lambda: engine.post("forward", few, query={"topIds": -1})),
        ("topK", lambda: engine.forward(BATCH.tokens, BATCH.mask, topK=VOCABULARY + 1)),
        ("topK", lambda: engine.forward(BATCH.tokens, BATCH.mask, topK=2, chosen=CHOSEN)),
        ("dTopLogprob", lambda: engine.backward("g", dTopLogprob=D_CHOSEN[:, :2])),
        (
            "dTopLogprob",
            lambda: engine.post(
                "backward",
                encode_columns({"dTopLogprob": D_CHOSEN[:, 0]}),
                numbered=True,
                query={"graph": "g"},
            ),
        ),
    ):
        with pytest.raises(RefusedError) as caught:
            make()
        assert (caught.value.code, caught.value.field) == ("INVALID_REQUEST", field)
    engine.backward("g", dTopLogprob=D_CHOSEN)
