"""Batches of Retrace as verl's `DataProto`: https://github.com/volcengine/verl, tried with 0.9.1.

batch = client.training_batch(run, update=12)
data = to_data_proto(batch, pad_token_id=tokenizer.pad_token_id)

Its keys are those that verl's trainer has once advantages are computed, so its losses and actors take it as it is.
"""

from typing import TYPE_CHECKING

import numpy as np

from retrace.training_batch import TrainingBatch

if TYPE_CHECKING:
    from verl import DataProto

# verl's names of what a response has for each token.
NAMES = {
    "advantages": "advantages",
    "behavior_logprobs": "rollout_log_probs",
    "importance_weights": "rollout_is_weights",
    "old_logprobs": "old_log_probs",
    "reference_logprobs": "ref_log_prob",
    "returns": "returns",
    "token_rewards": "token_level_rewards",
    "token_scores": "token_level_scores",
    "values": "values",
}


def to_data_proto(batch: TrainingBatch, pad_token_id: int) -> "DataProto":
    """Return the batch with prompts padded on the left and responses on the right, as verl has them.

    `uid` is the group and `episode_id` the episode of each row; `meta_info["temperature"]` is that of the sampling.
    Without a critic there are no `values` and `returns`; without corrections no `rollout_is_weights`; where a logprob is missing
    no `old_log_probs`.
    """
    import torch
    from verl import DataProto

    padded = batch.padded(pad_token_id)
    attention = torch.cat([padded["prompt_mask"], padded["response_attention"]], dim=1)
    tensors = {
        "prompts": padded["prompt_ids"],
        "responses": padded["response_ids"],
        "input_ids": torch.cat([padded["prompt_ids"], padded["response_ids"]], dim=1),
        "attention_mask": attention,
        "position_ids": torch.clip(torch.cumsum(attention, dim=1) - 1, min=0),
        "response_mask": padded["response_mask"],
        **{name: padded[ours] for ours, name in NAMES.items() if ours in padded},
    }
    tensors.setdefault("token_level_scores", padded["token_rewards"])
    if torch.isnan(tensors["rollout_log_probs"]).any():
        # Estimators that read none take tokens of which nobody knows the logprob.
        del tensors["rollout_log_probs"]
    rows = padded["row"].numpy()
    texts = {
        name: np.array(batch.table[column].to_pylist(), dtype=object)[rows]
        for name, column in (("uid", "group_id"), ("episode_id", "episode_id"))
    }
    return DataProto.from_dict(
        tensors=tensors,
        non_tensors=texts,
        meta_info={"temperature": batch.info.get("temperature", 1.0), "retrace": dict(batch.info)},
    )
