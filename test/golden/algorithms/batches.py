"""Batches that the goldens of libs/algorithms are computed on: ragged, multi-turn, with every awkward group."""

import json
import platform
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch

SEED = 20260101
HERE = Path(__file__).parent

# 1: sampled by the policy, 0: observation. Row 6 has no token at all.
MULTI_TURN = ["1110011", "11", "110100111", "1001", "11111", "101", "", "1", "111000", "1101101101"]
SINGLE_TURN = ["1111", "11", "111111", "1", "11111", "111", "", "1", "111", "1111111111"]
# Group 0: three unlike returns; 1: two equal ones; 2: one member; 3: four, one of them empty, two equal.
GROUPS = [0, 0, 0, 1, 1, 2, 3, 3, 3, 3]
RETURNS = [1.0, 0.0, 0.5, 1.0, 1.0, -0.75, 0.0, 1.0, 1.0, 0.25]


class Batch:
    """Padded tensors of a batch, in float64 but with float32 values, so that inputs are exact in both languages."""

    def __init__(self, name, masks):
        self.name = name
        random = np.random.default_rng(SEED)
        self.lengths = [len(mask) for mask in masks]
        self.width = max(self.lengths)
        self.mask = self._pad([[float(c) for c in mask] for mask in masks])
        self.groups = np.array(GROUPS)
        shape = self.mask.shape
        draw = lambda scale: self._as_float32(random.normal(size=shape) * scale)
        self.values = draw(0.5)
        self.dense_rewards = draw(0.3) * self.mask
        self.outcome_rewards = self._at_last_action(RETURNS)
        self.logprobs = -draw(0.8).abs() - 0.05
        # Ratios of all sizes, so that every clip is met from both sides.
        self.proximal = torch.clamp(self._as_float32(self.logprobs.numpy() + random.normal(size=shape) * 0.4), max=-0.01)
        self.proximal = self._as_float32(self.proximal.numpy())
        self.behavior = torch.clamp(self._as_float32(self.proximal.numpy() + random.normal(size=shape) * 0.3), max=-0.01)
        self.behavior = self._as_float32(self.behavior.numpy())
        self.reference = torch.clamp(self._as_float32(self.logprobs.numpy() + random.normal(size=shape) * 0.5), max=-0.01)
        self.reference = self._as_float32(self.reference.numpy())
        self.advantages = draw(1.0)
        # Σπ² is at least π² and at most π² + (1 − π)².
        chosen = np.exp(self.proximal.numpy())
        self.sum_squares = self._as_float32(chosen**2 + (1 - chosen) ** 2 * random.uniform(0.01, 1, size=shape))
        self.final_values = self._as_float32(random.normal(size=len(masks)))
        self.truncated = np.array([0, 1, 0, 1, 0, 0, 0, 1, 0, 1])

    def _pad(self, rows):
        padded = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.float64)
        for i, row in enumerate(rows):
            padded[i, : len(row)] = torch.tensor(row, dtype=torch.float64)
        return padded

    @staticmethod
    def _as_float32(array):
        return torch.from_numpy(np.asarray(array, dtype=np.float32).astype(np.float64))

    def _at_last_action(self, returns):
        rewards = torch.zeros_like(self.mask)
        for i, value in enumerate(returns):
            actions = self.mask[i].nonzero()
            if len(actions):
                rewards[i, actions[-1]] = value
        return rewards

    def rows(self, tensor):
        """A padded tensor without its padding."""
        return [[float(x) for x in tensor[i, :n]] for i, n in enumerate(self.lengths)]

    def actions(self, tensor):
        """The entries of a padded tensor at action tokens, one list over the batch."""
        return [float(x) for x in tensor[self.mask.bool()]]

    def describe(self):
        names = ["values", "dense_rewards", "outcome_rewards", "logprobs", "proximal", "behavior", "reference", "advantages", "sum_squares"]
        fields = {name: self.rows(getattr(self, name)) for name in names}
        return {
            "mask": self.rows(self.mask),
            "groups": [int(g) for g in self.groups],
            "truncated": [int(t) for t in self.truncated],
            "final_values": [float(v) for v in self.final_values],
            **fields,
        }


BATCHES = {name: Batch(name, masks) for name, masks in [("multiTurn", MULTI_TURN), ("singleTurn", SINGLE_TURN)]}


def number(x):
    """JSON has no int/float difference; whole numbers are written short."""
    if isinstance(x, float):
        return int(x) if x == int(x) and abs(x) < 1e15 else float(f"{x:.10g}")
    if isinstance(x, list):
        return [number(y) for y in x]
    if isinstance(x, dict):
        return {k: number(v) for k, v in x.items()}
    return x


def write(file_name, generator, tolerance, content, packages=("torch", "verl", "numpy")):
    document = {
        "generator": generator,
        "versions": {"python": platform.python_version(), **{p: version(p) for p in packages}},
        "seed": SEED,
        "relativeTolerance": tolerance,
        **number(content),
    }
    text = json.dumps(document, separators=(",", ":")).replace('},{"', '},\n{"')
    (HERE / file_name).write_text(text + "\n")
    print(file_name, len(text), "bytes")
