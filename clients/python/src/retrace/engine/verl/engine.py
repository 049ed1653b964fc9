"""One rank of a policy that verl trains, behind the calls of the worker's own engine.

verl makes forward and backward in one call, whose pipelines and reductions allow no stop between them, and one such call a step.
So a pass keeps no graph here: its derivatives are kept, and the step evaluates the tokens again with Σ derivative·output as loss.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..checkpoints import TensorFile
from ..engine_base import Columns, EngineBase, FileContent, ForwardOptions, no_critic, no_graph, require_rows
from ..errors import EngineError, unsupported
from ..group import Group
from ..optimizer import MOMENTS, Applied, StepOptions, require_step
from ..options import OpenOptions
from ..shares import Sequences, share_out
from .model import Batch, VerlModel
from .settings import backend_name, engine_settings

# Names of the outputs here and in verl.
OUTPUTS = {"logprob": "log_probs", "entropy": "entropy", "squaredProbabilities": "sum_pi_squared"}


@dataclass(frozen=True)
class Piece:
    """A sequence up to its last wanted token."""

    tokens: NDArray[np.int32]
    rows: NDArray[np.int64]
    """Places of its wanted tokens among those of its pass."""
    reads: NDArray[np.int64]
    """After which of its tokens they are predicted."""
    derivatives: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    """Of the loss by the outputs, [length]; an absent one is 0."""

    def derivative(self, output: str) -> NDArray[np.float32]:
        """The derivative by an output: [length]."""
        return self.derivatives.get(output, np.zeros(len(self.tokens), np.float32))

    def derived(self, values: Mapping[str, NDArray[np.float32]]) -> Piece:
        """The same piece with its derivatives, out of those of all wanted tokens."""
        columns = {}
        for output, rows in values.items():
            columns[output] = np.zeros(len(self.tokens), np.float32)
            columns[output][self.reads] = rows[self.rows]
        return Piece(self.tokens, self.rows, self.reads, columns)


NOTHING = Piece(np.zeros(2, np.int32), np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass(frozen=True)
class Pass:
    """A forward pass whose derivatives are still to come."""

    name: str
    num_rows: int
    pieces: list[Piece]
    temperature: float


class VerlEngine(EngineBase):
    """Forward, backward and optimizer of one policy in verl."""

    def __init__(self, options: OpenOptions, settings: Mapping[str, Any], group: Group):
        super().__init__(options, group)
        self.backend = backend_name()
        self._settings = engine_settings(options, settings, group.size)
        self._model: VerlModel | None = None
        self._fixed: VerlModel | None = None
        self._pass: Pass | None = None
        # All pieces of the step, on every rank: they are shared out when it is made.
        self._pieces: list[Piece] = []
        self._temperature = 1.0

    @property
    def model(self) -> VerlModel:
        """The policy; raises `NOT_OPEN` before its weights are loaded."""
        if self._model is None:
            raise EngineError("NOT_OPEN", "the engine has no weights yet; load them first")
        return self._model

    # Evaluation

    def forward(
        self,
        sequences: Sequences,
        wanted: NDArray[np.bool_],
        chosen: NDArray[np.int32],
        options: ForwardOptions,
    ) -> Columns:
        """Evaluate wanted tokens, of which none is the first of its sequence: float32 columns with one row for each."""
        if chosen.shape[1] or options.top_k:
            field = "topIds" if chosen.shape[1] else "topK"
            raise EngineError("UNSUPPORTED", "verl's engine has logprobs of the tokens only", field)
        model = self._weights_of(options.weights)
        self._validate(sequences)
        with self._timed("forwardSeconds"):
            self.figures["tokens"] += len(sequences.tokens)
            pieces = cut_pieces(sequences, wanted)
            num_rows = int(np.count_nonzero(wanted))
            if options.graph is not None:
                self._pass = Pass(options.graph, num_rows, pieces, options.temperature)
            if num_rows == 0:
                return {}
            return self._collect(self._evaluate(model, pieces, options), num_rows)

    def _evaluate(
        self, model: VerlModel, pieces: list[Piece], options: ForwardOptions
    ) -> list[tuple[NDArray[np.int64], Columns]]:
        names = [name for name in OUTPUTS if name != "squaredProbabilities" or options.squares]
        mine, batch = self._share(model, pieces, options.temperature)
        outputs = model.evaluate(batch, squares=options.squares)
        if outputs is None:
            return []
        return [
            (piece.rows, {name: outputs[OUTPUTS[name]][i][piece.reads].astype(np.float32) for name in names})
            for i, piece in enumerate(mine)
        ]

    def _share(self, model: VerlModel, pieces: list[Piece], temperature: float) -> tuple[list[Piece], Batch]:
        """What this rank evaluates: ranks that share a model's layers or matrices have the same."""
        lengths = [len(piece.tokens) for piece in pieces]
        shares = share_out(lengths, range(len(pieces)), model.num_replicas)
        mine = [pieces[i] for i in shares[model.replica]]
        # Replicas cut their parts into as many micro-batches as the one that needs most, and none may be empty.
        mine += [NOTHING] * (max(map(len, shares)) - len(mine))
        longest = max(self._options.max_tokens, *lengths)
        return mine, Batch([piece.tokens for piece in mine], temperature, longest)

    def ends(self, sequences: Sequences) -> NDArray[np.float32]:
        """Refuse: there is no critic."""
        raise EngineError("UNSUPPORTED", "the policy has no critic, so it has no values", "valueHead")

    # Training

    def backward(self, name: str, derivatives: Mapping[str, NDArray[np.float32]]) -> None:
        """Keep the derivatives of a pass for the step."""
        kept = self._pass
        if kept is None or kept.name != name:
            raise no_graph(name, None if kept is None else kept.name)
        require_rows(derivatives, kept.num_rows)
        if "value" in derivatives:
            raise no_critic()
        if self._pieces and kept.temperature != self._temperature:
            raise EngineError("UNSUPPORTED", "the passes of a step have one temperature", "temperature")
        self._pass = None
        if kept.num_rows == 0 or not derivatives:
            return
        self._temperature = kept.temperature
        self._pieces += [piece.derived(derivatives) for piece in kept.pieces]

    def step(self, options: StepOptions) -> Applied:
        """Evaluate the kept tokens again with their gradients, and make one optimizer step."""
        if options.skip_above is not None:
            raise EngineError(
                "UNSUPPORTED", "verl tells the norm after its step, so it can't skip one", "skipNormAbove"
            )
        model, pieces = self.model, self._pieces
        self.discard()
        if not pieces:
            return Applied(True, 0.0, None)
        with self._timed("stepSeconds"):
            mine, batch = self._share(model, pieces, self._temperature)
            # Every rank reads the same outputs: entropies cost as much memory as logits.
            read = [name for name in OUTPUTS if any(name in piece.derivatives for piece in pieces)]
            derivatives = {OUTPUTS[name]: [piece.derivative(name) for piece in mine] for name in read}
            norm = model.step(batch, derivatives, options)
        if not np.isfinite(norm):
            raise EngineError("NOT_FINITE", f"the gradient norm is {norm}; the weights were not changed")
        return Applied(True, norm, None)

    def discard(self) -> None:
        """Drop the kept pass and all derivatives."""
        self._pass = None
        self._pieces = []

    # References

    def reference(self, path: str | None) -> None:
        """Read the weights of the fixed reference, which is an engine of its own; None drops it."""
        if path is not None:
            self._open_files({"weights": path}, {"weights": self._require_weights})
        self._fixed = None
        if path is not None:
            self._fixed = self._make_model(path)

    def move_reference(self, decay: float) -> None:
        """Refuse: no engine of verl averages weights."""
        raise EngineError("UNSUPPORTED", "verl averages no weights; set loss.referenceDecay to null", "decay")

    def _weights_of(self, name: str) -> VerlModel:
        if name == "current":
            return self.model
        if name == "reference" and self._fixed is not None:
            return self._fixed
        raise EngineError("INVALID_REQUEST", f"weights is {name!r}; call reference first", "weights")

    # States

    def save(
        self, directory: str | None, what: str, metadata: Mapping[str, str], *, sharded: bool
    ) -> dict[str, Any]:
        """Write `weights` or the state of the `optimizer`, into a file that is durable after `sync`."""
        if sharded:
            raise unsupported("save.sharded", sharded, "false: verl's engine gives whole tensors")
        model = self.model
        content: FileContent = (model.weights(), metadata)
        if what == "optimizer":
            content = (model.moments(self._moment_order()), {**metadata, "step": str(model.num_steps)})
        return self._write_file(directory, what, content)

    def load(self, weights: str, optimizer: str | None) -> None:
        """Return to a saved state; both files are checked before anything changes. Without an optimizer's file it starts from 0."""
        checks = {"weights": self._require_weights, "optimizer": self._require_moments}
        paths = {"weights": weights, **({} if optimizer is None else {"optimizer": optimizer})}
        files = self._open_files(paths, checks)
        self.discard()
        self._model = None
        self._model = self._make_model(weights)
        if optimizer is not None:
            self._model.read_optimizer(files["optimizer"])

    def _make_model(self, weights: str) -> VerlModel:
        # FSDP's parameters and hooks refer to each other, so a model that was dropped is still in memory.
        gc.collect()
        if self._group.device.type == "cuda":
            torch.cuda.empty_cache()
        return VerlModel(self._options, self._settings, weights, self._group)

    def _require_weights(self, file: TensorFile, prefix: str = "") -> None:
        if file.is_index:
            raise unsupported(
                "load",
                str(file.path),
                "one file, which verl reads itself: make an update without verl and without engine.shardedCheckpoints first",
            )
        parts = self.trained_parts()
        for part in parts:
            file.require(prefix + part.name, part.shape)
        # verl reads what it is given, and each rank whole tensors: here each looks at a share of the rows.
        rank, size = self._group.rank, self._group.size
        for part in parts:
            first, last = (part.shape[0] * share // size for share in (rank, rank + 1))
            if first < last:
                file.rows(prefix + part.name, first, last, torch.device("cpu"))

    def _require_moments(self, file: TensorFile) -> None:
        for prefix in MOMENTS.values():
            self._require_weights(file, prefix)
        if file.metadata.get("averages") == "yes":
            raise EngineError(
                "UNSUPPORTED", f"{file.path} has a moving reference, which verl can't go on with"
            )
        require_step(file, "step", "")


def cut_pieces(sequences: Sequences, wanted: NDArray[np.bool_]) -> list[Piece]:
    """Cut each sequence that has wanted tokens after the last of them."""
    places = np.flatnonzero(wanted)
    pieces = []
    for s in np.unique(np.searchsorted(sequences.offsets, places, side="right") - 1):
        start, end = sequences.offsets[s], sequences.offsets[s + 1]
        first, last = np.searchsorted(places, (start, end))
        rows = np.arange(first, last)
        tokens = sequences.tokens[start : places[last - 1] + 1]
        pieces.append(Piece(tokens, rows, places[rows] - start - 1))
    return pieces


def require_verl(options: OpenOptions, settings: Mapping[str, Any], group: Group) -> None:
    """Check on every rank that verl is there, and can train this model with these settings."""
    error = None
    try:
        refuse(options)
        backend_name()
        engine_settings(options, settings, group.size)
    except EngineError as found:
        error = found
    group.agree(error)


def refuse(options: OpenOptions) -> None:
    """Refuse what is not trained by verl here."""
    shape = options.shape
    if shape.lora is not None:
        raise unsupported("open.model.shape.lora", "set", "absent with verl, which trains all weights here")
    if shape.value_head:
        rule = "false with verl, whose critics are models of their own"
        raise unsupported("open.model.shape.valueHead", True, rule)
    if shape.query_key_norm and shape.attention_bias:
        rule = "false with queryKeyNorm: Hugging Face's Qwen3 then has a bias more"
        raise unsupported("open.model.shape.attentionBias", True, rule)
