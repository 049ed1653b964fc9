"""Batches of Retrace for TRL's GRPOTrainer: https://github.com/huggingface/trl, tried with 1.16.0.

    class Trainer(StoredSequences, GRPOTrainer): ...
    args = GRPOConfig(temperature=batch.info["temperature"], …)
    trainer = Trainer(model, reward_funcs=[unused], train_dataset=to_dataset(batch), args=args, …)
    trainer.train()

The trainer samples nothing: each generation batch is the next rows of the data set, with the advantages that they have. It
overrides two private methods of the trainer.
"""

from typing import TYPE_CHECKING, Any

from retrace.training_batch import TrainingBatch

if TYPE_CHECKING:
    from datasets import Dataset

# What a completion has for each token, by TRL's names.
TOKEN_COLUMNS = ("tool_mask", "advantages", "old_per_token_logps", "ref_per_token_logps")


def unused(completions: list[Any], **_: Any) -> list[float]:
    """Stand where GRPOTrainer wants a reward function; it is never called."""
    raise RuntimeError("rewards of stored sequences were computed by Retrace")


def to_dataset(batch: TrainingBatch) -> "Dataset":
    """Return one row a sequence: `prompt_ids`, `completion_ids`, and `tool_mask` (1 = counts in the loss) of the completion.

    Also of the completion: `advantages`; `old_per_token_logps`, unless one is missing (then the ratio begins at 1); and where there
    is a reference policy `ref_per_token_logps`.

    Importance weights are part of the advantages: a clipped loss is linear in both, and no weight is negative. `prompt`, which
    the trainer wants, is empty.
    """
    from datasets import Dataset

    rows: list[dict[str, Any]] = []
    for row in batch.trained_rows():
        start = batch.response_start(row)
        advantages = batch.advantages[row][start:]
        if batch.importance_weights is not None:
            advantages = advantages * batch.importance_weights[row][start:]
        columns: dict[str, Any] = {
            "prompt": "",
            "episode_id": batch.table["episode_id"][row].as_py(),
            "group_id": batch.table["group_id"][row].as_py(),
            "prompt_ids": batch.token_ids[row][:start],
            "completion_ids": batch.token_ids[row][start:],
            "tool_mask": batch.loss_mask[row][start:],
            "advantages": advantages,
            "temperature": batch.info.get("temperature", 1.0),
        }
        if batch.old_logprobs is not None:
            columns["old_per_token_logps"] = batch.old_logprobs[row][start:]
        if batch.reference_logprobs is not None:
            columns["ref_per_token_logps"] = batch.reference_logprobs[row][start:]
        rows.append(columns)
    return Dataset.from_list(rows)


class StoredSequences:
    """Put before GRPOTrainer: trains on the rows of `to_dataset` in place of sampling."""

    def _get_train_sampler(self, dataset: Any = None) -> Any:
        from trl.trainer.utils import RepeatSampler

        trainer: Any = self
        rows = dataset if dataset is not None else trainer.train_dataset
        size, temperature = trainer.args.generation_batch_size, rows[0]["temperature"]
        if len(rows) % size != 0:
            raise ValueError(
                f"the data set has {len(rows)} rows; must be a multiple of generation_batch_size, {size}: others are not trained"
            )
        if temperature != trainer.args.temperature:
            raise ValueError(
                f"temperature of GRPOConfig is {trainer.args.temperature}; must be {temperature}, that of the sampling"
            )
        repeats = trainer.num_iterations * trainer.args.steps_per_generation
        return RepeatSampler(rows, mini_repeat_count=1, batch_size=size, repeat_count=repeats, shuffle=False)

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        import torch

        trainer: Any = self
        device = trainer.accelerator.device
        pad = trainer.processing_class.pad_token_id
        prompts = [torch.tensor(row["prompt_ids"], dtype=torch.long) for row in inputs]
        completions = [torch.tensor(row["completion_ids"], dtype=torch.long) for row in inputs]

        def left(values: list[Any], fill: int) -> Any:
            flipped = [value.flip(0) for value in values]
            return torch.nn.utils.rnn.pad_sequence(flipped, batch_first=True, padding_value=fill).flip(1)

        def right(values: list[Any], fill: float) -> Any:
            return torch.nn.utils.rnn.pad_sequence(values, batch_first=True, padding_value=fill)

        output = {
            "prompt_ids": left(prompts, pad),
            "prompt_mask": left([torch.ones_like(ids) for ids in prompts], 0),
            "completion_ids": right(completions, pad),
            "completion_mask": right([torch.ones_like(ids) for ids in completions], 0),
        }
        for name in TOKEN_COLUMNS:
            if name not in inputs[0]:
                continue
            dtype = torch.long if name == "tool_mask" else torch.float32
            output[name] = right([torch.tensor(row[name], dtype=dtype) for row in inputs], 0)
        output = {name: values.to(device) for name, values in output.items()}
        counted = trainer.accelerator.gather(output["tool_mask"].sum())
        return {**output, "num_items_in_batch": counted.sum()}
