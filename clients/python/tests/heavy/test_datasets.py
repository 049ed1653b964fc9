"""A data set that `retrace dataset create` makes trains with TRL's real SFTTrainer, on this processor."""

import math
from pathlib import Path

import pytest
from retrace_command import run_retrace

from retrace import Retrace, uuid7

pytest.importorskip("trl", reason="TRL is not installed")
import torch
from datasets import load_dataset
from tiny_model import make_model, make_tokenizer
from trl import SFTConfig, SFTTrainer

NUM_EPISODES = 8


@pytest.fixture
def dataset(retrace: Retrace) -> Path:
    """A data set of chats of two turns, as `sft` exports them."""
    with retrace.start_run("sums") as run:
        for a in range(NUM_EPISODES):
            with run.episode(task={"sum": [a, 2]}) as episode:
                for b in (2, 3):
                    output = {"role": "assistant", "content": str(a + b)}
                    asked = [{"role": "user", "content": f"{a} + {b}?"}]
                    system = [{"role": "system", "content": "Add."}] if b == 2 else []
                    episode.step(messages={"input": [*system, *asked], "output": output})
                episode.end(success=True)
    assert retrace.flush()
    query = f"SELECT run_id, episode_id FROM episodes WHERE run_id = '{run.id}' AND success"
    name = f"sums-{uuid7()}"
    made = run_retrace("dataset", "create", name, "--format", "sft", "--sql", query)
    assert made["numEpisodes"] == NUM_EPISODES
    return Path(made["path"])


def test_exported_chats_train_with_sft_trainer_as_they_are(dataset: Path, tmp_path: Path) -> None:
    rows = load_dataset(str(dataset), split="train", cache_dir=str(tmp_path / "cache"))
    assert len(rows) == NUM_EPISODES
    assert [message["role"] for message in rows[0]["messages"]] == [
        "system",
        *["user", "assistant"] * 2,
    ]
    tokenizer = make_tokenizer()
    torch.manual_seed(1)
    model = make_model(tokenizer)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    arguments = SFTConfig(
        output_dir=str(tmp_path / "trained"),
        per_device_train_batch_size=4,
        max_steps=2,
        learning_rate=1e-2,
        logging_steps=1,
        report_to=[],
        use_cpu=True,
        save_strategy="no",
        disable_tqdm=True,
    )
    trainer = SFTTrainer(model=model, args=arguments, train_dataset=rows, processing_class=tokenizer)
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert trainer.state.global_step == len(losses) == 2
    # A random model is near uniform over its vocabulary; one step of so large a rate makes it better on the same texts.
    assert losses[0] == pytest.approx(math.log(len(tokenizer)), abs=0.5)
    assert losses[1] < losses[0]
    assert any(not torch.equal(before[name], value) for name, value in model.state_dict().items())
