"""Goldens of the losses over pairs: TRL's own DPOTrainer._compute_loss, with the answers of both models given. Writes preferences.json."""

from collections import defaultdict
from types import SimpleNamespace

import torch
from trl.trainer.dpo_trainer import DPOTrainer

from batches import BATCHES, write

# Rows of the batches: a chosen and a rejected one. Each row is in one pair at most.
PAIRS = [(0, 1), (9, 2), (3, 8), (7, 4)]


class Answering(torch.nn.Module):
    """A model whose logprobs are given, rows by columns; TRL sums them without a mask, as its own are 0 outside of completions."""

    is_gradient_checkpointing = False

    def __init__(self, logprobs):
        super().__init__()
        self.logprobs = logprobs

    def forward(self, **_):
        zeros = torch.zeros_like(self.logprobs)
        return SimpleNamespace(log_probs=self.logprobs, entropy=zeros, mean_logits=zeros, is_top1=zeros.bool())


def trainer(model, reference, loss_type, beta):
    """What DPOTrainer._compute_loss reads of its trainer."""
    accelerator = SimpleNamespace(device="cpu", gather=lambda x: x, gather_for_metrics=lambda x: x)
    return SimpleNamespace(
        accelerator=accelerator,
        args=SimpleNamespace(gradient_checkpointing_kwargs=None),
        model=model,
        ref_model=reference,
        aux_loss_enabled=False,
        precompute_ref_logps=False,
        ld_alpha=None,
        f_divergence_type="reverse_kl",
        loss_types=[loss_type],
        loss_weights=[1.0],
        beta=beta,
        label_smoothing=0.0,
        use_weighting=False,
        _metrics={"train": defaultdict(list)},
        _total_train_tokens=0,
        _tp_size=1,
    )


def case(batch, loss_type, beta, options):
    rows = [chosen for chosen, _ in PAIRS] + [rejected for _, rejected in PAIRS]
    logprobs = batch.logprobs.clone().requires_grad_()
    mask = batch.mask[rows]
    prompt = torch.zeros(len(rows), 1)
    inputs = {
        "input_ids": torch.zeros(len(rows), batch.width + 1, dtype=torch.long),
        "attention_mask": torch.ones(len(rows), batch.width + 1),
        "completion_mask": torch.cat([prompt, mask], dim=1),
    }
    model = Answering(logprobs[rows] * mask)
    of = trainer(model, Answering(batch.reference[rows] * mask), loss_type, beta)
    value = DPOTrainer._compute_loss(of, model, inputs, return_outputs=False)
    value.backward()
    metrics = of._metrics["train"]
    return {
        "batch": batch.name,
        "options": {"beta": beta, **options},
        "value": float(value.detach()),
        "gradients": batch.actions(logprobs.grad),
        "chosenReward": metrics["rewards/chosen"][0],
        "rejectedReward": metrics["rewards/rejected"][0],
        "accuracy": metrics["rewards/accuracies"][0],
        "margin": metrics["rewards/margins"][0],
    }


def cases(batch):
    for beta in [0.1, 0.5]:
        yield case(batch, "sigmoid", beta, {"loss": "dpo", "lengthNormalized": False})
        yield case(batch, "sigmoid_norm", beta, {"loss": "dpo", "lengthNormalized": True})
        yield case(batch, "ipo", beta, {"loss": "ipo", "lengthNormalized": True})


if __name__ == "__main__":
    content = {"pairs": [list(pair) for pair in PAIRS], "losses": [c for batch in BATCHES.values() for c in cases(batch)]}
    write("preferences.json", "generate_preferences.py", 1e-5, content, packages=("torch", "trl", "numpy"))
