"""Batches of Retrace in the real verl and TRL."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="TRL is not installed")
pytest.importorskip("verl", reason="verl is not installed")
import pyarrow as pa
import torch
from test_training_batch import FLOATS, make_batch
from tiny_model import make_model, make_tokenizer
from trl import GRPOConfig, GRPOTrainer
from verl.trainer.config.algorithm import AlgoConfig
from verl.trainer.ppo import core_algos
from verl.workers.config import ActorConfig

from retrace import TrainingBatch
from retrace.trainers.trl import StoredSequences, to_dataset, unused
from retrace.trainers.verl import to_data_proto

WEIGHTS = pa.array([[0, 0, 0.5, 0, 1], [0, 2, 0]], FLOATS)


def test_verl_takes_a_batch_as_its_own() -> None:
    data = to_data_proto(make_batch(importance_weights=WEIGHTS), pad_token_id=99)
    assert len(data) == 3
    assert data.batch["input_ids"].tolist() == [[1, 2, 3, 4, 5], [99, 6, 7, 8, 99], [99, 6, 7, 8, 99]]
    assert data.batch["attention_mask"].tolist() == [[1, 1, 1, 1, 1], [0, 1, 1, 1, 0], [0, 1, 1, 1, 0]]
    assert data.batch["position_ids"].tolist() == [[0, 1, 2, 3, 4], [0, 0, 1, 2, 2], [0, 0, 1, 2, 2]]
    assert data.non_tensor_batch["uid"].tolist() == ["g", "g", "g"]
    assert data.non_tensor_batch["episode_id"].tolist() == ["a", "b", "b"]
    # verl's own reading of a batch: a chunk for each of three workers, and back.
    assert len(data.chunk(3)) == 3
    assert len(type(data).concat(data.chunk(3))) == 3


def test_verl_makes_the_loss_of_it_that_the_columns_say() -> None:
    data = to_data_proto(make_batch(importance_weights=WEIGHTS), pad_token_id=99).batch
    config = ActorConfig(strategy="fsdp", rollout_n=1, ppo_micro_batch_size_per_gpu=1, clip_ratio=0.2)
    shift = 0.1
    loss, _ = core_algos.get_policy_loss_fn("vanilla")(
        old_log_prob=data["rollout_log_probs"],
        log_prob=data["rollout_log_probs"] + shift,
        advantages=data["advantages"],
        response_mask=data["response_mask"].bool(),
        loss_agg_mode="token-mean",
        config=config,
        rollout_is_weights=data["rollout_is_weights"],
    )
    ratio = torch.tensor(shift).exp()
    # Tokens that count: advantages 1, 2, and -1 twice, for the copy; weights .5, 1, 2 and 2.
    expected = -(1 * 0.5 + 2 * 1 + 2 * (-1) * 2) * ratio / 4
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)


def test_verl_estimates_the_advantages_that_retrace_did() -> None:
    # (1 - .75) / (.25 times the root of 2), of the rewards 1 and .5.
    score = 0.25 / (0.25 * 2**0.5)
    advantages = pa.array([[0, 0, score, 0, score], [0, -score, 0]], FLOATS)
    rewards = pa.array([[0, 0, 0, 0, 1], [0, 0.5, 0]], FLOATS)
    copies = pa.array([1, 1], pa.int32())
    data = to_data_proto(
        make_batch(advantages=advantages, token_rewards=rewards, copies=copies), pad_token_id=99
    )
    estimated, _ = core_algos.compute_grpo_outcome_advantage(
        token_level_rewards=data.batch["token_level_rewards"],
        response_mask=data.batch["response_mask"],
        index=data.non_tensor_batch["uid"],
        config=AlgoConfig(),
    )
    torch.testing.assert_close(estimated, data.batch["advantages"], rtol=1e-4, atol=1e-5)


class Trainer(StoredSequences, GRPOTrainer):  # type: ignore[misc] # TRL has no types
    pass


def make_trainer(directory: Path, batch: TrainingBatch, **arguments: Any) -> Trainer:
    tokenizer = make_tokenizer()
    torch.manual_seed(1)
    return Trainer(
        model=make_model(tokenizer),
        args=GRPOConfig(
            output_dir=str(directory),
            **{
                "per_device_train_batch_size": 4,
                "num_generations": 2,
                "max_steps": 1,
                "num_train_epochs": 1,
                "learning_rate": 0.0,
                "max_grad_norm": 0.0,
                "report_to": [],
                "use_cpu": True,
                "bf16": False,
                "save_strategy": "no",
                "disable_tqdm": True,
                **arguments,
            },
        ),
        reward_funcs=[unused],
        train_dataset=to_dataset(batch),
        processing_class=tokenizer,
    )


def test_trl_takes_a_step_on_stored_sequences(tmp_path: Path) -> None:
    copies = pa.array([2, 2], pa.int32())
    old = pa.array([[0, 0, -5.0, 0, -6.0], [0, -5.5, 0]], FLOATS)
    batch = make_batch(copies=copies, importance_weights=WEIGHTS, old_logprobs=old)
    trainer = make_trainer(tmp_path, batch, loss_type="dapo", beta=0.0)
    gradients: dict[str, torch.Tensor] = {}
    parameter = trainer.model.get_input_embeddings().weight
    parameter.register_hook(lambda gradient: gradients.setdefault("embedding", gradient.clone()))
    trainer.train()
    expected = gradient_of(make_trainer(tmp_path, batch, loss_type="dapo", beta=0.0).model)
    torch.testing.assert_close(gradients["embedding"], expected, rtol=1e-4, atol=1e-6)


def test_trl_trains_every_row_once_whatever_is_accumulated(tmp_path: Path) -> None:
    batch = make_batch(copies=pa.array([4, 4], pa.int32()))
    arguments = {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 2, "max_steps": -1}
    trainer = make_trainer(tmp_path, batch, **arguments)
    seen: list[list[int]] = []
    compute_loss = trainer._compute_loss

    def counted(model: Any, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        seen.extend(inputs["prompt_ids"].tolist())
        loss: torch.Tensor = compute_loss(model, inputs)
        return loss

    trainer._compute_loss = counted
    trainer.train()
    # Two optimizer steps of two batches of two rows.
    assert len(seen) == 8
    assert sum(row[-1] == 2 for row in seen) == 4


def test_trl_refuses_what_it_would_train_wrongly(tmp_path: Path) -> None:
    hot = make_trainer(tmp_path, make_batch(copies=pa.array([2, 2], pa.int32())), temperature=0.7)
    with pytest.raises(ValueError, match=r"temperature of GRPOConfig is 0.7; must be 1.0"):
        hot.train()
    with pytest.raises(ValueError, match=r"has 3 rows; must be a multiple of generation_batch_size, 4"):
        make_trainer(tmp_path, make_batch()).train()


def gradient_of(model: Any) -> torch.Tensor:
    """The gradient of the clipped loss, token mean over both sequences, written out."""
    total, count = torch.zeros(()), 0
    for ids, tokens in (
        ([1, 2, 3, 4, 5], {2: (1 * 0.5, -5.0), 4: (2 * 1.0, -6.0)}),
        ([6, 7, 8], {1: (-1 * 2.0, -5.5)}),
    ):
        logprobs = model(input_ids=torch.tensor([ids])).logits[0].float().log_softmax(-1)
        for place, (advantage, old) in tokens.items():
            ratio = (logprobs[place - 1, ids[place]] - old).exp()
            total = total - torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
            count += 1
    (total / count).backward()
    gradient = model.get_input_embeddings().weight.grad
    assert gradient is not None
    return gradient
