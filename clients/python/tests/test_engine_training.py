"""The torch worker computes what transformers, peft and finite differences say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_client import EngineClient, running
from engine_models import (
    GOLDEN,
    MODELS,
    TINY,
    Batch,
    golden_shape,
    joined,
    random_batch,
    random_weights,
    read_tensors,
)

for package in ("torch", "safetensors", "aiohttp"):
    pytest.importorskip(
        package, reason=f"skipped, because {package} is not installed: npm run test:engines installs it"
    )

SEQUENCES = json.loads((GOLDEN / "golden.json").read_text())["sequences"]
ALL_TOKENS = [[1] * len(row) for row in SEQUENCES]


@pytest.fixture(scope="module", params=[1, 2], ids=["1 rank", "2 ranks"])
def worker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(tmp_path_factory.mktemp("worker"), request.param) as worker:
        yield worker.url


@pytest.fixture
def engine(worker: str) -> EngineClient:
    return EngineClient(worker)


def golden_of(model: str) -> tuple[Any, dict[str, Any]]:
    directory = GOLDEN / model
    return json.loads((directory / "golden.json").read_text()), read_tensors(directory / "golden.safetensors")


def weights_of(model: str, directory: Path) -> Path:
    """One file with all weights of a golden model."""
    from safetensors.numpy import save_file

    path = directory / "model.safetensors"
    tensors: dict[str, Any] = {}
    for shard in sorted((GOLDEN / model).glob("model*.safetensors")):
        tensors |= read_tensors(shard)
    save_file(tensors, path)
    return path


def options_of(golden: Any) -> dict[str, Any]:
    return {name: golden[name] for name in ("beta1", "beta2", "epsilon", "weightDecay")}


def train(engine: EngineClient, golden: Any) -> list[float]:
    """Make the golden's steps on the mean cross-entropy; returns the gradient norms."""
    norms = []
    for step in range(len(golden["losses"])):
        logprobs = engine.forward(SEQUENCES, ALL_TOKENS, graph=f"step {step}")["logprob"]
        assert -logprobs.mean() == pytest.approx(golden["losses"][step], abs=2e-5)
        engine.backward(f"step {step}", dLogprob=np.full(len(logprobs), -1 / len(logprobs), np.float32))
        norms.append(
            engine.step(golden["learningRate"], maxGradientNorm=golden["maxGradientNorm"])["gradientNorm"]
        )
    return norms


def expect_weights(actual: dict[str, Any], golden: dict[str, Any], prefix: str, relative: float) -> None:
    names = [name.removeprefix(prefix) for name in golden if name.startswith(prefix)]
    assert len(names) > 0
    for name in names:
        expected = golden[prefix + name]
        assert np.linalg.norm(actual[name] - expected) <= relative * np.linalg.norm(expected), name


@pytest.mark.parametrize("model", MODELS)
def test_full_training_gives_the_logprobs_norms_and_weights_of_transformers(
    engine: EngineClient, model: str, tmp_path: Path
) -> None:
    golden, tensors = golden_of(model)
    for key, prefix, relative in (("oneStep", "oneStep.", 1e-4), ("adamW", "adamW.", 1e-3)):
        engine.open(golden_shape(model), optimizer=options_of(golden[key]))
        engine.load(weights_of(model, tmp_path))
        logprobs = engine.forward(SEQUENCES, ALL_TOKENS)["logprob"]
        np.testing.assert_allclose(logprobs, np.concatenate(golden["logprobs"]), atol=2e-5)
        assert train(engine, golden[key]) == pytest.approx(golden[key]["gradientNorms"], rel=1e-4)
        expect_weights(read_tensors(engine.save(tmp_path)["weights"]), tensors, prefix, relative)


@pytest.mark.parametrize("model", MODELS)
def test_gradients_of_all_parameters_are_those_of_transformers(
    engine: EngineClient, model: str, tmp_path: Path
) -> None:
    _, tensors = golden_of(model)
    # After one step without a limit, the first moment is (1 - beta1) times the gradient.
    engine.open(golden_shape(model), optimizer={"beta1": 0.5})
    engine.load(weights_of(model, tmp_path))
    num_rows = len(engine.forward(SEQUENCES, ALL_TOKENS, graph="g")["logprob"])
    engine.backward("g", dLogprob=np.full(num_rows, -1 / num_rows, np.float32))
    engine.step(0.0)
    moments = read_tensors(engine.save(tmp_path)["optimizer"])
    gradients = {name.removeprefix("first_moment."): 2 * values for name, values in moments.items()}
    expect_weights(gradients, tensors, "gradient.", 1e-4)


@pytest.mark.parametrize("model", MODELS)
def test_lora_training_gives_the_logprobs_and_adapters_of_peft(
    engine: EngineClient, model: str, tmp_path: Path
) -> None:
    golden, tensors = golden_of(model)
    adapter = GOLDEN / model / "adapter"
    config = json.loads((adapter / "adapter_config.json").read_text())
    lora = {"rank": config["r"], "alpha": config["lora_alpha"], "targets": sorted(config["target_modules"])}
    step = golden["lora"]["oneStep"]
    base = {"directory": str(GOLDEN / model), "fingerprint": fingerprint_of(model)}
    engine.open(golden_shape(model, lora=lora), model=base, optimizer=options_of(step))
    engine.load(adapter / "adapter_model.safetensors")
    logprobs = engine.forward(SEQUENCES, ALL_TOKENS)["logprob"]
    np.testing.assert_allclose(logprobs, np.concatenate(golden["lora"]["logprobs"]), atol=2e-5)
    assert train(engine, step) == pytest.approx(step["gradientNorms"], rel=1e-4)
    expect_weights(read_tensors(engine.save(tmp_path)["weights"]), tensors, "lora.oneStep.", 1e-4)


def fingerprint_of(model: str) -> str:
    from retrace.engine.checkpoints import ModelDirectory

    return ModelDirectory(str(GOLDEN / model)).fingerprint()


LORA = {"rank": 3, "alpha": 6, "targets": ["q_proj", "v_proj", "down_proj"]}

SHAPES: dict[str, dict[str, Any]] = {
    "shared trunk": {},
    "tied": {"tieWordEmbeddings": True},
    "own trunk": {"valueTrunk": "own"},
    "normed heads": {"queryKeyNorm": True},
    "adapters": {"lora": LORA},
    "adapters of policy and critic": {"lora": LORA, "valueTrunk": "own"},
}


def open_random(engine: EngineClient, shape: dict[str, Any], tmp_path: Path, **changes: Any) -> Path:
    """Open a model with random weights, also of its frozen base; returns their file."""
    from retrace.engine.checkpoints import ModelDirectory

    if "lora" in shape:
        base = tmp_path / "base"
        base.mkdir(exist_ok=True)
        (base / "config.json").write_text("{}")
        opened = engine.open({**shape, "lora": None, "valueHead": False, "valueTrunk": None})
        random_weights(engine, opened, base / "model.safetensors", seed=5)
        changes["model"] = {"directory": str(base), "fingerprint": ModelDirectory(str(base)).fingerprint()}
    opened = engine.open(shape, **changes)
    weights = random_weights(engine, opened, tmp_path / "weights.safetensors")
    engine.load(weights)
    return weights


def gradients_of(engine: EngineClient, batch: Batch, directory: Path) -> dict[str, Any]:
    """The gradient by the name of its parameter: the first moment of one step, for beta1 0.5."""
    engine.forward(batch.tokens, batch.mask, graph="g")
    engine.backward("g", **batch.derivatives)
    engine.step(0.0)
    moments = read_tensors(engine.save(directory)["optimizer"])
    prefix = "first_moment."
    return {
        name.removeprefix(prefix): 2 * values for name, values in moments.items() if name.startswith(prefix)
    }


@pytest.mark.parametrize("name", SHAPES)
def test_gradients_of_logprobs_entropies_and_values_are_those_of_finite_differences(
    engine: EngineClient, name: str, tmp_path: Path
) -> None:
    from safetensors.numpy import save_file

    shape = {**TINY, **SHAPES[name]}
    weights = open_random(engine, shape, tmp_path, optimizer={"beta1": 0.5})
    batch = random_batch(1, shape["vocabSize"])
    gradients = gradients_of(engine, batch, tmp_path)
    norm = np.linalg.norm(joined(gradients))
    # Along the gradient the loss changes by its norm; another vector than the gradient would give less.
    losses = []
    for sign in (1, -1):
        start = read_tensors(weights)
        moved = {key: start[key] + sign * 1e-2 * gradients[key] / norm for key in start}
        save_file(moved, tmp_path / "moved.safetensors")
        engine.load(tmp_path / "moved.safetensors")
        losses.append(batch.loss(engine.forward(batch.tokens, batch.mask)))
    assert (losses[0] - losses[1]) / 2e-2 == pytest.approx(norm, rel=1e-2)


def test_values_at_ends_are_those_before_a_next_token(engine: EngineClient, tmp_path: Path) -> None:
    open_random(engine, TINY, tmp_path)
    rows = [[3, 5, 7], [], [11], [13, 17]]
    ends = engine.ends(rows)
    longer = [[*row, 1] for row in rows if row]
    values = engine.forward(longer, [[0] * (len(row) - 1) + [1] for row in longer])["value"]
    np.testing.assert_allclose(ends[[0, 2, 3]], values, atol=1e-5)
    assert ends[1] == 0


def test_accumulated_backwards_are_the_gradient_of_the_whole(engine: EngineClient, tmp_path: Path) -> None:
    open_random(engine, TINY, tmp_path)
    batch = random_batch(2, TINY["vocabSize"])
    norms = []
    for pieces in ([slice(0, 6)], [slice(0, 2), slice(2, 6)]):
        start = 0
        for i, piece in enumerate(pieces):
            rows = engine.forward(batch.tokens[piece], batch.mask[piece], graph=f"{i}")["logprob"]
            part = {key: values[start : start + len(rows)] for key, values in batch.derivatives.items()}
            engine.backward(f"{i}", **part)
            start += len(rows)
        norms.append(engine.step(0.0)["gradientNorm"])
    assert norms[1] == pytest.approx(norms[0], rel=1e-5)


def test_passes_of_few_tokens_give_the_same_columns(engine: EngineClient, tmp_path: Path) -> None:
    weights = open_random(engine, TINY, tmp_path)
    batch = random_batch(3, TINY["vocabSize"])
    whole = engine.forward(batch.tokens, batch.mask, temperature=0.7, squaredProbabilities=1)
    engine.open(TINY, maxTokensPerMicroBatch=5)
    engine.load(weights)
    cut = engine.forward(batch.tokens, batch.mask, temperature=0.7, squaredProbabilities=1)
    assert list(cut) == ["logprob", "entropy", "value", "squaredProbabilities"]
    for name, column in whole.items():
        np.testing.assert_allclose(cut[name], column, atol=1e-5)


def test_recomputed_layers_give_the_same_step(engine: EngineClient, tmp_path: Path) -> None:
    batch = random_batch(4, TINY["vocabSize"])
    saved = []
    for recompute in (False, True):
        open_random(engine, TINY, tmp_path, recomputeLayers=recompute)
        engine.forward(batch.tokens, batch.mask, graph="g")
        engine.backward("g", **batch.derivatives)
        engine.step(1e-3)
        saved.append(joined(read_tensors(engine.save(tmp_path)["weights"])))
    np.testing.assert_array_equal(saved[1], saved[0])


def test_bfloat16_is_near_float32_and_keeps_float32_weights(engine: EngineClient, tmp_path: Path) -> None:
    batch = random_batch(5, TINY["vocabSize"])
    columns, gradients = [], []
    for precision in ("float32", "bfloat16"):
        open_random(engine, TINY, tmp_path, precision=precision, optimizer={"beta1": 0.5})
        columns.append(engine.forward(batch.tokens, batch.mask))
        gradients.append(joined(gradients_of(engine, batch, tmp_path)))
        before = joined(read_tensors(engine.save(tmp_path)["weights"]))
        engine.forward(batch.tokens, batch.mask, graph="h")
        engine.backward("h", **batch.derivatives)
        engine.step(1e-6)
        # A bfloat16 weight would not move by this little.
        assert np.abs(joined(read_tensors(engine.save(tmp_path)["weights"])) - before).max() > 1e-7
    for name, column in columns[0].items():
        assert np.linalg.norm(columns[1][name] - column) <= 2e-2 * np.linalg.norm(column), name
    assert np.linalg.norm(gradients[1] - gradients[0]) <= 5e-2 * np.linalg.norm(gradients[0])


def test_a_separate_critic_has_a_rate_and_a_norm_of_its_own(engine: EngineClient, tmp_path: Path) -> None:
    shape = {**TINY, "valueTrunk": "own"}
    weights = open_random(engine, shape, tmp_path, optimizer={"separateCritic": True})
    batch = random_batch(6, TINY["vocabSize"])
    engine.forward(batch.tokens, batch.mask, graph="g")
    engine.backward("g", **batch.derivatives)
    step = engine.step(0.0, criticLearningRate=1e-3, maxGradientNorm=1e-6)
    assert step["gradientNorm"] > 0
    assert step["criticGradientNorm"] > 0
    before, after = read_tensors(weights), read_tensors(engine.save(tmp_path)["weights"])
    changed = {name for name in before if not np.array_equal(before[name], after[name])}
    assert changed == {name for name in before if name.startswith(("critic.", "value_head"))}


def test_a_separate_critic_can_have_steps_of_its_own(engine: EngineClient, tmp_path: Path) -> None:
    batch = random_batch(6, TINY["vocabSize"])

    def is_of_critic(name: str) -> bool:
        return name.startswith(("critic.", "value_head"))

    def weights_after(steps: list[str]) -> dict[str, np.ndarray]:
        shape = {**TINY, "valueTrunk": "own"}
        read_tensors(open_random(engine, shape, tmp_path, optimizer={"separateCritic": True}))
        for count, trains in enumerate(steps):
            if trains == "restart":
                engine.load(**engine.save(tmp_path, what="state"))
                continue
            engine.forward(batch.tokens, batch.mask, graph=f"g{count}")
            engine.backward(f"g{count}", **batch.derivatives)
            made = engine.step(1e-3, criticLearningRate=1e-2, maxGradientNorm=1e-2, trains=trains)
            assert (made["gradientNorm"] == 0) == (trains == "critic")
            assert (made["criticGradientNorm"] == 0) == (trains == "policy")
        return read_tensors(engine.save(tmp_path)["weights"])

    start, policy = weights_after([]), weights_after(["policy"])
    for name, values in weights_after(["critic"]).items():
        assert np.array_equal(values, start[name]) == (not is_of_critic(name)), name
        assert np.array_equal(policy[name], start[name]) == is_of_critic(name), name
    # Counts of steps, by which the moments are corrected, go along, too.
    whole = weights_after(["critic", "critic", "policy", "critic", "policy"])
    restarted = weights_after(["critic", "critic", "policy", "restart", "critic", "policy"])
    for name, values in whole.items():
        assert np.array_equal(values, restarted[name]), name


def test_fixed_and_moving_references_are_other_weights(engine: EngineClient, tmp_path: Path) -> None:
    weights = open_random(engine, TINY, tmp_path)
    batch = random_batch(7, TINY["vocabSize"])

    def logprobs(which: str = "current") -> Any:
        return engine.forward(batch.tokens, batch.mask, weights=which)["logprob"]

    start = logprobs()
    engine.post("reference", {"weights": str(weights)})
    engine.post("move-reference", {"decay": 1}, numbered=True)
    engine.forward(batch.tokens, batch.mask, graph="g")
    engine.backward("g", **batch.derivatives)
    engine.step(1e-2)
    moved = logprobs()
    assert np.abs(moved - start).max() > 1e-3
    np.testing.assert_array_equal(logprobs("reference"), start)
    np.testing.assert_array_equal(logprobs("moving"), start)
    np.testing.assert_array_equal(logprobs(), moved)
    engine.post("move-reference", {"decay": 0.5}, numbered=True)
    halfway = logprobs("moving")
    files = engine.save(tmp_path)
    average = read_tensors(files["optimizer"])
    expected = {
        name: (read_tensors(weights)[name] + values) / 2
        for name, values in read_tensors(files["weights"]).items()
    }
    for name, values in expected.items():
        np.testing.assert_allclose(average[f"average.{name}"], values, atol=1e-6)
    engine.post("move-reference", {"decay": 0}, numbered=True)
    np.testing.assert_array_equal(logprobs("moving"), moved)
    engine.load(files["weights"], files["optimizer"])
    np.testing.assert_array_equal(logprobs("moving"), halfway)
