"""Updates and policies of a trainer of one's own, as Retrace records them: with the episodes that they were made of."""

import hashlib
import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import httpx
import numpy as np
import numpy.typing as npt

from retrace.connection import pause_before, seconds_to_wait
from retrace.errors import RetraceError, raise_for_problem
from retrace.ids import uuid7
from retrace.training_batch import TrainingBatch

PIECE_BYTES = 4 * 1024**2
# Float32 has no more digits than these.
DIGITS = 7


@dataclass(frozen=True)
class Checkpoint:
    """Saved weights, or an optimizer state, by their content. Retrace gets none of their bytes."""

    sha256: str
    size_bytes: int

    @staticmethod
    def of(path: str | Path) -> "Checkpoint":
        """Hash a file, or a folder.

        The hash of a folder is that of the list of its files, as `sha256sum` prints it for their paths in the folder, sorted.
        """
        root = Path(path)
        if root.is_file():
            return Checkpoint(_sha256(root), root.stat().st_size)
        files = sorted(file for file in root.rglob("*") if file.is_file())
        if not files:
            raise FileNotFoundError(f"{root}: must be a file, or a folder with files")
        listed = "".join(f"{_sha256(file)}  {file.relative_to(root).as_posix()}\n" for file in files)
        size = sum(file.stat().st_size for file in files)
        return Checkpoint(hashlib.sha256(listed.encode()).hexdigest(), size)


@dataclass(frozen=True)
class TrainerEngine:
    """What made the gradients."""

    kind: str
    """Its name: `trl`, `verl`."""
    version: str = ""
    """Of its library, with what it runs on: `trl 1.16.0`."""
    device: str = ""
    """`cpu`, or the name of a GPU."""
    num_processes: int = 1
    precision: str = ""
    """Type in which it multiplies matrices: `bfloat16`."""

    def to_wire(self) -> dict[str, Any]:
        """Return it as the server takes it."""
        return {
            "kind": self.kind,
            "version": self.version,
            "device": self.device,
            "numProcesses": self.num_processes,
            "precision": self.precision,
        }


@dataclass(frozen=True)
class TrainedUpdate:
    """An update that a trainer of one's own made of a batch. Recorded twice, it is there once."""

    batch: TrainingBatch
    engine: TrainerEngine | str
    """What made the gradients; a text is its kind."""
    rows: Sequence[int] | None = None
    """Rows of the batch that were trained; None: all."""
    policy_version_in: int | None = None
    """Version that it started from; None: the newest when the batch, which is of this run then, was drawn."""
    update_number: int | None = None
    """Must be the next of the run; None: that one."""
    stage: Literal["policy", "imitation"] = "policy"
    losses: Sequence[float] = ()
    """Of each optimizer step."""
    gradient_norms: Sequence[float] | None = None
    """Of each optimizer step, before it was scaled down."""
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    """By name, as the page of the run draws them: `train/loss`, …"""
    weights: Checkpoint | None = None
    """What was saved of the policy that it made."""
    location: str | None = None
    """Where that is: a path or an address."""
    model: str | None = None
    """Which model it is; None: that of the version before."""
    optimizer: Checkpoint | None = None
    id: str = field(default_factory=uuid7)
    """Names it in the log."""

    def body(self, run_id: str) -> dict[str, Any]:
        """Return the body that records it in a run; what is None is left out."""
        info = dict(self.batch.info)
        version_in = self.policy_version_in
        if version_in is None:
            if info.get("runId") != run_id:
                rule = f"must be given where the batch is of another run, {info.get('runId')}"
                raise ValueError(f"policy_version_in is None; {rule}")
            version_in = info["policyVersionIn"]
        engine = TrainerEngine(self.engine) if isinstance(self.engine, str) else self.engine
        norms = self.gradient_norms
        # A body has at most a megabyte.
        defaults = (("run", run_id), ("times", 1), ("reward", None), ("digest", None))
        body = {
            "id": self.id,
            "policyVersionIn": version_in,
            "updateNumber": self.update_number,
            "stage": self.stage,
            "rewardVersion": info.get("rewardVersion"),
            "batch": info,
            "engine": engine.to_wire(),
            "episodes": [
                {name: value for name, value in episode.items() if (name, value) not in defaults}
                for episode in trained_episodes(self.batch, self.rows)
            ],
            "stepLosses": [_finite_or_none(loss) for loss in self.losses],
            "stepGradientNorms": None if norms is None else [_finite_or_none(norm) for norm in norms],
            "metrics": {name: _finite_or_none(value) for name, value in self.metrics.items()},
            "optimizer": _file(self.optimizer),
            **_checkpoint_fields(self.weights, self.location, self.model),
        }
        return {name: value for name, value in body.items() if value is not None}


@dataclass(frozen=True)
class RecordedUpdate:
    """The place of an update in its run."""

    update_number: int
    policy_version: int
    """The version that it made."""


def record_update(
    url: str, headers: Mapping[str, str], run_id: str, update: TrainedUpdate, timeout_s: float
) -> RecordedUpdate:
    """Record an update; see `Retrace.record_update`."""
    answer = post_until_answered(url, headers, f"/api/runs/{run_id}/updates", update.body(run_id), timeout_s)
    return RecordedUpdate(answer["updateNumber"], answer["policyVersion"])


def trained_episodes(batch: TrainingBatch, rows: Sequence[int] | None = None) -> list[dict[str, Any]]:
    """Return what an update that is made of these rows (None: all) reads of each episode, in the order of the batch.

    Tokens are those that count in the loss; a token that a correction rejected, whose importance weight is 0, does not.
    """
    chosen = range(len(batch)) if rows is None else _checked_rows(rows, len(batch))
    columns = {name: batch.table[name].to_pylist() for name in batch.table.column_names if name in OF_EPISODE}
    rows_of: dict[str, list[int]] = {}
    for row in chosen:
        rows_of.setdefault(columns["episode_id"][row], []).append(row)
    return [_trained_episode(batch, columns, own) for own in rows_of.values()]


def policy_body(
    version: int,
    parent: int | None,
    weights: Checkpoint | None,
    location: str | None,
    model: str | None,
) -> dict[str, Any]:
    """Return the body that publishes a policy; what is None is left out."""
    body = {
        "policyVersion": version,
        "parentVersion": parent,
        **_checkpoint_fields(weights, location, model),
    }
    return {name: value for name, value in body.items() if value is not None}


def _checkpoint_fields(weights: Checkpoint | None, location: str | None, model: str | None) -> dict[str, Any]:
    """Return the fields that say where weights are."""
    return {"weights": _file(weights), "location": location, "model": model}


def require_sent(is_sent: bool, timeout_s: float) -> None:
    """Require that Retrace has what was recorded before, which an update or a policy refers to."""
    if not is_sent:
        detail = f"Retrace has not taken all records of this client within {timeout_s} s; `delivery` says why"
        raise RetraceError(0, "UNANSWERED", detail)


def post_until_answered(
    url: str, headers: Mapping[str, str], path: str, body: Mapping[str, Any], timeout_s: float
) -> dict[str, Any]:
    """Post a body, again after failures that pass, for `timeout_s` at most; return the answer. Raises RetraceError."""
    end = time.monotonic() + timeout_s
    content = json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
    attempt = 0
    with httpx.Client(base_url=url, headers=dict(headers)) as http:
        while True:
            pause_s = None
            try:
                left_s = max(1.0, end - time.monotonic())
                response = http.post(path, content=content, headers=JSON_TYPE, timeout=left_s)
                if response.is_success:
                    return dict(response.json())
                if response.status_code < 500 and response.status_code not in PASSING:
                    raise_for_problem(response)
                pause_s = seconds_to_wait(response.headers.get("retry-after"))
            except httpx.TransportError as error:
                if time.monotonic() > end:
                    detail = f"no answer within {timeout_s} s: {type(error).__name__}: {error}"
                    raise RetraceError(0, "UNANSWERED", detail) from error
            else:
                if time.monotonic() > end:
                    raise_for_problem(response)
            time.sleep(min(pause_before(attempt, pause_s), max(0.1, end - time.monotonic())))
            attempt += 1


JSON_TYPE = {"content-type": "application/json"}
# Refusals that pass, beside those of 5xx.
PASSING = frozenset({408, 425, 429})
OF_EPISODE = ("run_id", "episode_id", "episode_digest", "copies", "reward")


def _checked_rows(rows: Sequence[int], num_rows: int) -> list[int]:
    for row in rows:
        if isinstance(row, bool | np.bool_) or not 0 <= row < num_rows:
            raise ValueError(f"rows has {row!r}; must be numbers of rows, 0 to {num_rows - 1}")
    return sorted({int(row) for row in rows})


def _trained_episode(
    batch: TrainingBatch, columns: Mapping[str, list[Any]], rows: Sequence[int]
) -> dict[str, Any]:
    first = rows[0]
    counted = [_counted(batch, row) for row in rows]
    advantages = np.concatenate(
        [batch.advantages[row][mask] for row, mask in zip(rows, counted, strict=True)]
    )
    episode: dict[str, Any] = {
        "run": columns["run_id"][first],
        "episode": columns["episode_id"][first],
        "times": max(columns["copies"][row] for row in rows),
        "numTokens": len(advantages),
        "digest": columns["episode_digest"][first] if "episode_digest" in columns else None,
        "reward": _finite_or_none(columns["reward"][first]),
    }
    if len(advantages) == 0:
        return {**episode, "weight": None}
    if batch.importance_weights is not None:
        weighted = batch.importance_weights
        values = np.concatenate([weighted[row][mask] for row, mask in zip(rows, counted, strict=True)])
        episode["weight"] = _rounded(values.mean(dtype=np.float64))
    exact = advantages.astype(np.float64)
    episode["advantage"] = {
        "mean": _rounded(exact.mean()),
        "deviation": _rounded(exact.std()),
        "min": _rounded(exact.min()),
        "max": _rounded(exact.max()),
    }
    return episode


def _counted(batch: TrainingBatch, row: int) -> npt.NDArray[np.bool_]:
    mask = np.asarray(batch.loss_mask[row] == 1)
    weights = batch.importance_weights
    return mask if weights is None else np.logical_and(mask, weights[row] > 0)


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _finite_or_none(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def _file(checkpoint: Checkpoint | None) -> dict[str, Any] | None:
    return None if checkpoint is None else {"sha256": checkpoint.sha256, "sizeBytes": checkpoint.size_bytes}


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while piece := content.read(PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest()
