"""Which rank computes which sequences, and in which passes. Every rank computes the same plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Sequences:
    """Ragged sequences: sequence s is `tokens[offsets[s] … offsets[s + 1])`."""

    tokens: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        """How many sequences there are."""
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """[S]"""
        return np.diff(self.offsets)


@dataclass(frozen=True)
class Reads:
    """The places after which tokens are wanted."""

    places: NDArray[np.int64]
    """[M], ascending."""
    chosen: NDArray[np.int32]
    """[M, k] ids whose logprobs are wanted there, beside those of the tokens that follow."""


def share_out(lengths: Sequence[int], chosen: Sequence[int], num_ranks: int) -> list[list[int]]:
    """Give each rank some of the chosen sequences, longest first, with balanced token counts."""
    shares: list[list[int]] = [[] for _ in range(num_ranks)]
    loads = [0] * num_ranks
    for s in sorted(chosen, key=lambda s: -lengths[s]):
        rank = loads.index(min(loads))
        shares[rank].append(s)
        loads[rank] += lengths[s]
    return shares


def cut(lengths: Sequence[int], share: Sequence[int], max_tokens: int) -> list[list[int]]:
    """Cut a share, which is sorted by length, into passes of at most so many tokens, or of one sequence."""
    passes: list[list[int]] = []
    size = 0
    for s in share:
        if not passes or size + lengths[s] > max_tokens:
            passes.append([])
            size = 0
        passes[-1].append(s)
        size += lengths[s]
    return passes
