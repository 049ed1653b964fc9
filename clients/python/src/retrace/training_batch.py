"""What a policy gradient reads of each token, as Retrace computed it: for trainers that make the gradients themselves."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from retrace.batches import Ragged

if TYPE_CHECKING:
    from torch import Tensor

METADATA_KEY = b"retrace"
Order = Literal["random", "newest"]


def batch_body(
    update: int | None,
    where: str | None,
    groups: int | None,
    order: Order | None,
    seed: int | None,
    temperature: float | None,
    changes: Sequence[str],
    reward_version: str | None,
) -> dict[str, Any]:
    """Return the body that asks for a batch; what is None is left out."""
    body = {
        "updateNumber": update,
        "where": where,
        "groups": groups,
        "order": order,
        "seed": seed,
        "temperature": temperature,
        "set": list(changes) or None,
        "rewardVersion": reward_version,
    }
    return {name: value for name, value in body.items() if value is not None}


@dataclass(frozen=True)
class TrainingBatch:
    """Sequences of a run, in the order of their episodes, with a value for each token.

    A sequence is what one forward pass reads; an episode has several where its prompts dropped tokens. Columns that the
    recipe does not compute are None.
    """

    table: pa.Table
    """The rows as they came, one a sequence: also `episode_id`, `group_id`, `sequence`, `copies`, `reward`."""
    info: Mapping[str, Any]
    """What the batch is: `updateNumber`, `policyVersionIn`, `estimator`, `policyLoss`, `aggregation`, `temperature`."""
    token_ids: Ragged
    policy_versions: Ragged
    action_mask: Ragged
    """1 = sampled by the policy."""
    loss_mask: Ragged
    """1 = counts in the loss and its denominators."""
    behavior_logprobs: Ragged
    """Nats, as they were recorded when the token was sampled."""
    old_logprobs: Ragged | None
    """Of the policy that the ratio of the loss is to: the update's first one, or the one that sampled. None where one is missing."""
    advantages: Ragged
    token_rewards: Ragged
    token_scores: Ragged | None
    """The rewards without the KL from the reference policy; None where that is not charged to them."""
    importance_weights: Ragged | None
    """Factors of the loss, of corrections, the sampler, or the choice of high-entropy tokens; None without any."""
    reference_logprobs: Ragged | None
    returns: Ragged | None
    values: Ragged | None

    @staticmethod
    def of(table: pa.Table) -> "TrainingBatch":
        """View the columns of an answer."""
        said = (table.schema.metadata or {}).get(METADATA_KEY, b"{}")
        lists = {
            name: Ragged.of(table[name])
            for name in table.column_names
            if pa.types.is_list(table.schema.field(name).type)
        }
        columns: dict[str, Any] = {
            **{name: lists[name] for name in REQUIRED},
            **{name: lists.get(name) for name in OPTIONAL},
        }
        return TrainingBatch(table=table, info=json.loads(said), **columns)

    def __len__(self) -> int:
        """Return the number of sequences."""
        return int(self.table.num_rows)

    @property
    def rewards(self) -> npt.NDArray[np.float64]:
        """Total reward of the episode of each sequence; NaN where it is missing."""
        return np.asarray(self.table["reward"].to_numpy(), np.float64)

    @property
    def columns(self) -> dict[str, Ragged]:
        """The columns that have a value for each token and that were computed, by name."""
        named = {name: getattr(self, name) for name in (*REQUIRED, *OPTIONAL)}
        return {name: column for name, column in named.items() if column is not None}

    def torch(self) -> "dict[str, Tensor]":
        """Return each column as one flat tensor on the memory of the answer, and `offsets` of the sequences; write to none.

        As many forward passes over packed sequences take them: `cu_seqlens` is `offsets`.
        """
        tensors = {name: column.torch() for name, column in self.columns.items()}
        flat = {name: values for name, (values, _) in tensors.items()}
        return {"offsets": tensors["token_ids"][1], **flat}

    def padded(self, pad_token_id: int) -> "dict[str, Tensor]":
        """Return the columns as `[rows, tokens]` with the prompt to the left and the response to the right of one place.

        The prompt of a sequence are the tokens before the first one that was sampled; the response is all that follows, with
        what the environment said between. A sequence is there as often as `copies` says, and not where none of its tokens counts.

        - `prompt_ids`, `prompt_mask` [B, P]: padded on the left
        - `response_ids`, `response_attention`, `response_mask` (1 = counts in the loss) [B, R]: padded on the right
        - `advantages`, `old_logprobs`, `behavior_logprobs`, … [B, R]: of the response, 0 where `response_mask` is 0;
          `token_rewards`, `action_mask` and `policy_versions` as they are
        - `row` [B]: the row of `table` that each is
        """
        import torch

        rows = self.trained_rows()
        starts = np.array([self.response_start(row) for row in rows], np.int64)
        lengths = np.diff(self.token_ids.offsets)[rows].astype(np.int64)
        num_prompt = int(starts.max(initial=0))
        num_response = int((lengths - starts).max(initial=0))
        prompt_ids = np.full((len(rows), num_prompt), pad_token_id, np.int64)
        prompt_mask = np.zeros((len(rows), num_prompt), np.int64)
        names = [name for name in self.columns if name not in ("token_ids", "loss_mask")]
        response = {
            "response_ids": np.full((len(rows), num_response), pad_token_id, np.int64),
            "response_attention": np.zeros((len(rows), num_response), np.int64),
            "response_mask": np.zeros((len(rows), num_response), np.int64),
            **{
                name: np.full((len(rows), num_response), FILLS.get(name, 0), getattr(self, name).values.dtype)
                for name in names
            },
        }
        for place, (row, start) in enumerate(zip(rows, starts, strict=True)):
            ids, mask = self.token_ids[row], self.loss_mask[row]
            size = len(ids) - start
            if start > 0:
                prompt_ids[place, -start:] = ids[:start]
                prompt_mask[place, -start:] = 1
            response["response_ids"][place, :size] = ids[start:]
            response["response_attention"][place, :size] = 1
            response["response_mask"][place, :size] = mask[start:]
            for name in names:
                values = getattr(self, name)[row][start:]
                response[name][place, :size] = (
                    values if name in UNMASKED else np.where(mask[start:] == 1, values, 0)
                )
        padded = {
            "prompt_ids": prompt_ids,
            "prompt_mask": prompt_mask,
            **response,
            "row": np.array(rows, np.int64),
        }
        return {name: torch.from_numpy(values) for name, values in padded.items()}

    def trained_rows(self) -> list[int]:
        """Return the rows of which any token counts, each as often as it is to be trained."""
        copies = self.table["copies"].to_pylist()
        return [row for row in range(len(self)) if self.loss_mask[row].any() for _ in range(copies[row])]

    def response_start(self, row: int) -> int:
        """Return where the response of a sequence begins: at its first sampled token; its length where none was sampled."""
        mask = self.action_mask[row]
        return int(np.argmax(mask)) if mask.any() else len(mask)


# Columns that mean something at tokens that do not count in the loss, too.
UNMASKED = ("token_rewards", "token_scores", "action_mask", "policy_versions")
# What stands behind the end of a response; 0 in other columns. No policy has version -1.
FILLS = {"policy_versions": -1}
REQUIRED = (
    "token_ids",
    "policy_versions",
    "action_mask",
    "loss_mask",
    "behavior_logprobs",
    "advantages",
    "token_rewards",
)
OPTIONAL = ("old_logprobs", "token_scores", "importance_weights", "reference_logprobs", "returns", "values")
