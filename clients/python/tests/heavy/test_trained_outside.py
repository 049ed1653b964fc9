"""TRL trains a policy that Retrace only keeps the history of: play, batch, update, and what the update made plays again."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="TRL is not installed")
import torch
import trl
from test_outside_update import shown_later
from tiny_model import make_model, make_tokenizer
from trl import GRPOConfig, GRPOTrainer

from retrace import (
    Checkpoint,
    Retrace,
    RetraceError,
    Run,
    Sampling,
    Tokens,
    TrainedUpdate,
    TrainerEngine,
    TrainingBatch,
)
from retrace.trainers.trl import StoredSequences, to_dataset, unused

NUM_UPDATES, NUM_GROUPS, GROUP_SIZE, NUM_TOKENS = 6, 8, 8, 3
PROMPT = [5, 6, 7]
WANTED = range(2, 130)


class Trainer(StoredSequences, GRPOTrainer):  # type: ignore[misc] # TRL has no types
    pass


def play(run: Run, model: Any, version: int, generator: torch.Generator) -> None:
    """Sample episodes at temperature 1; the reward is the share of tokens of the first half of the vocabulary."""
    for group in range(NUM_GROUPS):
        for member in range(GROUP_SIZE):
            ids = list(PROMPT)
            logprobs: list[float | None] = [None] * len(PROMPT)
            for _ in range(NUM_TOKENS):
                with torch.no_grad():
                    logits = model(input_ids=torch.tensor([ids])).logits[0, -1].float()
                chosen = int(torch.multinomial(logits.softmax(-1), 1, generator=generator))
                logprobs.append(float(logits.log_softmax(-1)[chosen]))
                ids.append(chosen)
            sampled = ids[len(PROMPT) :]
            tokens = Tokens(
                ids=ids,
                mask=[0] * len(PROMPT) + [1] * NUM_TOKENS,
                logprobs=logprobs,
                versions=[-1] * len(PROMPT) + [version] * NUM_TOKENS,
            )
            name = f"version {version} group {group}"
            with run.episode(
                task={}, group_id=name, group_size=GROUP_SIZE, group_member=member, environment="letters"
            ) as episode:
                episode.step(
                    observation="",
                    action=str(sampled),
                    reward=sum(token in WANTED for token in sampled) / NUM_TOKENS,
                    tokens=tokens,
                    sampling=Sampling(temperature=1.0),
                )


def batch_of(client: Retrace, run: Run, version: int) -> TrainingBatch:
    """The episodes that a version sampled, once the store, which follows the log, has them all."""
    assert client.flush()
    for _ in range(200):
        with suppress(RetraceError):
            batch = client.training_batch(run, where=f"policy_version_min = {version}")
            if len(batch) == NUM_GROUPS * GROUP_SIZE:
                return batch
    raise AssertionError(f"the store never had the episodes of version {version}")


def train(model: Any, tokenizer: Any, batch: TrainingBatch, directory: Path) -> Any:
    args = GRPOConfig(
        output_dir=str(directory),
        per_device_train_batch_size=len(batch),
        num_generations=GROUP_SIZE,
        num_train_epochs=1,
        learning_rate=3e-2,
        logging_steps=1,
        beta=0.0,
        report_to=[],
        use_cpu=True,
        bf16=False,
        save_strategy="no",
        disable_tqdm=True,
        temperature=batch.info["temperature"],
    )
    trainer = Trainer(
        model=model,
        args=args,
        reward_funcs=[unused],
        train_dataset=to_dataset(batch),
        processing_class=tokenizer,
    )
    trainer.train()
    return trainer


def test_trl_trains_a_run_whose_history_is_here(retrace: Retrace, tmp_path: Path) -> None:
    tokenizer = make_tokenizer()
    torch.manual_seed(3)
    model = make_model(tokenizer)
    generator = torch.Generator().manual_seed(4)
    run = retrace.start_run("trained by TRL", environment="letters")
    engine = TrainerEngine("trl", version=f"trl {trl.__version__}, torch {torch.__version__}", device="cpu")
    retrace.publish_policy(run, 0, model="tiny")
    for version in range(NUM_UPDATES):
        play(run, model, version, generator)
        batch = batch_of(retrace, run, version)
        assert batch.info["policyVersionIn"] == version
        trainer = train(model, tokenizer, batch, tmp_path / "out")
        folder = tmp_path / f"version-{version + 1}"
        model.save_pretrained(folder)
        logged = [entry for entry in trainer.state.log_history if "loss" in entry]
        update = TrainedUpdate(
            batch,
            engine,
            losses=[entry["loss"] for entry in logged],
            gradient_norms=[entry["grad_norm"] for entry in logged],
            metrics={"train/loss": logged[-1]["loss"], "rollout/return": float(batch.rewards.mean())},
            weights=Checkpoint.of(folder),
            location=str(folder),
        )
        recorded = retrace.record_update(run, update)
        assert (recorded.update_number, recorded.policy_version) == (version + 1, version + 1)
        assert retrace.record_update(run, update) == recorded
    run.end()

    # Which update made what sampled the episodes of which update.
    chain = shown_later(
        retrace,
        "SELECT i.update_number AS trained, p.update_number AS made_by, uniqExact(i.episode_id) AS episodes "
        "FROM update_inputs AS i "
        "INNER JOIN episodes AS e ON e.run_id = i.episode_run_id AND e.episode_id = i.episode_id "
        "INNER JOIN policies AS p ON p.run_id = i.run_id AND p.policy_version = e.policy_version_min "
        f"WHERE i.run_id = '{run.id}' GROUP BY trained, made_by ORDER BY trained",
        num_rows=NUM_UPDATES,
    )
    expected = NUM_GROUPS * GROUP_SIZE
    assert chain.to_pylist() == [
        {"trained": n + 1, "made_by": n, "episodes": expected} for n in range(NUM_UPDATES)
    ]
    shas = retrace.sql(f"SELECT DISTINCT weights_sha256 FROM policies WHERE run_id = '{run.id}'")
    assert shas.num_rows == NUM_UPDATES + 1
    again = retrace.training_batch(run, update=2)
    digests = retrace.sql(
        f"SELECT episode_id FROM update_inputs WHERE run_id = '{run.id}' AND update_number = 2"
    )
    assert set(again.table["episode_id"].to_pylist()) == set(digests["episode_id"].to_pylist())
    returns = retrace.sql(
        "SELECT policy_version_min AS version, avg(return) AS mean FROM episodes "
        f"WHERE run_id = '{run.id}' GROUP BY version ORDER BY version"
    )["mean"].to_pylist()
    # It learns: rewards of random letters are one half.
    assert returns[-1] > returns[0] + 0.1
