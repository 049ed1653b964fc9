"""One rank of the worker: a policy with its optimizer.

All ranks make the same calls in the same order; what a call returns counts on rank 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .checkpoints import TensorFile
from .engine_base import (
    Columns,
    EngineBase,
    FileContent,
    ForwardOptions,
    no_critic,
    no_graph,
    require_rows,
    require_width,
)
from .errors import EngineError
from .group import Group
from .model import Pack, RotaryCache, Wanted, make_pack
from .optimizer import MOMENTS, Applied, Optimizer, StepOptions
from .options import OpenOptions
from .shares import Reads, Sequences, cut, share_out
from .weights import Sharded, Shards, Weights

AVERAGE_PREFIX = "average."


@dataclass(frozen=True)
class Graph:
    """A forward pass whose gradient is still to come."""

    name: str
    num_rows: int
    columns: dict[str, torch.Tensor]
    rows: NDArray[np.int64]
    """[M of this rank] the place of each output among all wanted tokens; fewer than outputs where the rank had no work."""


class Engine(EngineBase):
    """Forward, backward and optimizer of one policy."""

    def __init__(self, options: OpenOptions, group: Group):
        super().__init__(options, group)
        if group.device.type == "cuda":
            # A backward that was cut off may have left it on.
            torch.use_deterministic_algorithms(False)
        self.weights = Weights(options, group)
        self._rotary = RotaryCache(options.shape, group.device, self._dtype)
        self._graph: Graph | None = None
        self._moving: Shards | None = None
        self._fixed: Shards | None = None
        self._has_gradients = False
        # FSDP settles where shards are in the first pass.
        with torch.no_grad():
            self._pass(self._empty_pack(), Wanted())
        self.optimizer = Optimizer(self.weights, options.optimizer, group)
        error = None
        if options.shape.lora is not None:
            assert options.directory is not None
            assert options.fingerprint is not None
            try:
                self.weights.read_frozen(options.directory, options.fingerprint)
            except EngineError as found:
                error = found
        group.agree(error)

    # Evaluation

    def forward(
        self,
        sequences: Sequences,
        wanted: NDArray[np.bool_],
        chosen: NDArray[np.int32],
        options: ForwardOptions,
    ) -> Columns:
        """Evaluate wanted tokens, of which none is the first of its sequence: columns with one row for each.

        `chosen` has a row of ids for each, whose logprobs are wanted too.
        """
        self._require_loaded()
        self._validate(sequences)
        self._validate_ids(chosen, options.top_k)
        other = self._other_weights(options.weights)
        asks = Wanted(
            options.temperature,
            values=self._options.shape.value_head,
            squares=options.squares,
            top_k=options.top_k,
        )
        tokens = Reads(np.flatnonzero(wanted) - 1, chosen)
        with self._timed("forwardSeconds"):
            self.figures["tokens"] += len(sequences.tokens)
            if options.graph is not None:
                return self._forward_with_graph(sequences, tokens, asks, options.graph)
            # The weights that are evaluated instead have no critic's values that anybody asks for.
            if other is not None:
                asks = replace(asks, values=False)
            with torch.no_grad(), nullcontext() if other is None else self.weights.replaced_by(other):
                return self._evaluate(sequences, tokens, asks)

    def ends(self, sequences: Sequences) -> NDArray[np.float32]:
        """V after the last token of each sequence; 0 for an empty one."""
        self._require_loaded()
        self._validate(sequences)
        if not self._options.shape.value_head:
            raise EngineError("UNSUPPORTED", "the policy has no critic, so it has no values", "valueHead")
        filled = np.flatnonzero(sequences.lengths)
        reads = sequences.offsets[filled + 1] - 1
        with torch.no_grad(), self._timed("forwardSeconds"):
            tokens = Reads(reads, np.empty((len(reads), 0), np.int32))
            columns = self._evaluate(sequences, tokens, Wanted(logprobs=False, values=True))
        values = np.zeros(len(sequences), np.float32)
        if columns:
            values[filled] = columns["value"]
        return values

    def _evaluate(self, sequences: Sequences, tokens: Reads, asks: Wanted) -> Columns:
        """Columns for the reads, in passes of at most `maxTokensPerMicroBatch` tokens a rank."""
        lengths = sequences.lengths.tolist()
        chosen = np.unique(np.searchsorted(sequences.offsets, tokens.places, side="right") - 1).tolist()
        shares = share_out(lengths, chosen, self._group.size)
        cuts = [cut(lengths, share, self._options.max_tokens) for share in shares]
        mine = cuts[self._group.rank]
        parts: list[tuple[NDArray[np.int64], Columns]] = []
        for i in range(max(map(len, cuts))):
            # All ranks make the same number of passes, since each collects parameters from all.
            rows, pack = self._pack(sequences, tokens, mine[i] if i < len(mine) else [])
            columns = self._pass(pack, asks)
            parts.append((rows, {name: numpy_of(column)[: len(rows)] for name, column in columns.items()}))
        return self._collect(parts, len(tokens.places))

    def _forward_with_graph(self, sequences: Sequences, tokens: Reads, asks: Wanted, name: str) -> Columns:
        self.drop_graph()
        num_rows = len(tokens.places)
        if num_rows == 0:
            self._graph = Graph(name, 0, {}, np.empty(0, np.int64))
            return {}
        lengths = sequences.lengths.tolist()
        chosen = np.unique(np.searchsorted(sequences.offsets, tokens.places, side="right") - 1).tolist()
        share = share_out(lengths, chosen, self._group.size)[self._group.rank]
        rows, pack = self._pack(sequences, tokens, share)
        columns = self._pass(pack, asks)
        self._graph = Graph(name, num_rows, columns, rows)
        found = {key: numpy_of(column.detach())[: len(rows)] for key, column in columns.items()}
        return self._collect([(rows, found)], num_rows)

    def _pass(self, pack: Pack, asks: Wanted) -> dict[str, torch.Tensor]:
        columns: dict[str, torch.Tensor] = self.weights.policy(pack, asks)
        return columns

    def _pack(
        self, sequences: Sequences, tokens_read: Reads, share: list[int]
    ) -> tuple[NDArray[np.int64], Pack]:
        """The pack of some sequences, each up to its last read, and which of all reads it has."""
        reads, chosen = tokens_read.places, tokens_read.chosen
        if not share:
            return np.empty(0, np.int64), self._empty_pack(chosen.shape[1])
        pieces, rows, places, size = [], [], [], 0
        for s in share:
            start, end = sequences.offsets[s], sequences.offsets[s + 1]
            first, last = np.searchsorted(reads, (start, end))
            rows.append(np.arange(first, last))
            places.append(reads[first:last] - start + size)
            pieces.append(sequences.tokens[start : reads[last - 1] + 1])
            size += len(pieces[-1])
        joined = np.concatenate(rows)
        # Where only the value is wanted, nothing follows the last token.
        following = np.minimum(reads[joined] + 1, len(sequences.tokens) - 1)
        tokens = [torch.from_numpy(np.ascontiguousarray(piece)) for piece in pieces]
        targets = torch.from_numpy(sequences.tokens[following])
        at = torch.from_numpy(np.concatenate(places))
        ids = torch.from_numpy(chosen[joined]).to(self._group.device, torch.long)
        return joined, make_pack(tokens, at, targets, self._rotary, ids, self._dtype)

    def _empty_pack(self, num_chosen: int = 0) -> Pack:
        """One token whose outputs nobody reads."""
        token, places = torch.zeros(1, dtype=torch.long), torch.zeros(2, dtype=torch.long)
        ids = torch.zeros(2, num_chosen, dtype=torch.long, device=self._group.device)
        return make_pack([token], places, places, self._rotary, ids, self._dtype)

    # Training

    def backward(self, name: str, derivatives: Mapping[str, NDArray[np.float32]]) -> None:
        """Add the gradient of Σ derivative·output to what is accumulated."""
        graph = self._graph
        if graph is None or graph.name != name:
            raise no_graph(name, None if graph is None else graph.name)
        require_rows(derivatives, graph.num_rows)
        if "value" in derivatives and not self._options.shape.value_head:
            raise no_critic()
        if "topLogprob" in derivatives and graph.num_rows:
            require_width(derivatives["topLogprob"], graph.columns.get("topLogprob"))
        self._graph = None
        with self._timed("backwardSeconds"):
            if graph.num_rows == 0 or not derivatives:
                return
            self._has_gradients = True
            outputs = [graph.columns[column] for column in derivatives]
            gradients = [
                self._shared(values, graph, output)
                for values, output in zip(derivatives.values(), outputs, strict=True)
            ]
            torch.autograd.backward(outputs, gradients)

    def _shared(self, values: NDArray[np.float32], graph: Graph, output: torch.Tensor) -> torch.Tensor:
        mine = torch.zeros(output.shape, dtype=torch.float32)
        mine[: len(graph.rows)] = torch.from_numpy(values[graph.rows])
        return mine.to(output.device)

    def step(self, options: StepOptions) -> Applied:
        """Make one optimizer step, and clear the gradients."""
        self._require_loaded()
        self.drop_graph()
        if not self._has_gradients:
            return Applied(True, 0.0, 0.0 if self._options.optimizer.separate_critic else None)
        try:
            with self._timed("stepSeconds"):
                return self.optimizer.step(options)
        finally:
            self.discard()

    def discard(self) -> None:
        """Drop the kept graph and the accumulated gradients."""
        self.drop_graph()
        self.weights.clear_gradients()
        self._has_gradients = False

    def drop_graph(self) -> None:
        """Drop the kept graph."""
        self._graph = None

    # References

    def reference(self, path: str | None) -> None:
        """Read the weights of the fixed reference; None drops it."""
        if path is None:
            self._fixed = None
            return
        file = self._open_files({"weights": path}, {"weights": self.weights.require_in})["weights"]
        shards = self.weights.copy()
        self.weights.read(file, shards)
        self._fixed = shards

    def move_reference(self, decay: float) -> None:
        """a ← decay·a + (1 - decay)·w; begins at the current weights."""
        self._require_loaded()
        self.drop_graph()
        if self._moving is None:
            self._moving = self.weights.copy()
        for average, weight in zip(self._moving, self.weights.shards(), strict=True):
            average.mul_(decay).add_(weight, alpha=1 - decay)

    def _other_weights(self, name: str) -> Shards | None:
        if name == "current":
            return None
        shards = self._fixed if name == "reference" else self._moving
        if shards is None:
            call = "reference" if name == "reference" else "move-reference"
            raise EngineError("INVALID_REQUEST", f"weights is {name!r}; call {call} first", "weights")
        return shards

    # States

    def save(
        self, directory: str | None, what: str, metadata: Mapping[str, str], *, sharded: bool
    ) -> dict[str, Any]:
        """Write `weights` or the state of the `optimizer`, durable after `sync`: whole, or each rank its own rows."""
        self._require_loaded()
        entries_of = own_entries if sharded else whole_entries
        if what == "weights":
            content: FileContent = (self._entries(self.weights.shards(), "", entries_of), metadata)
        else:
            averages = {} if self._moving is None else {"averages": "yes"}
            texts = {**metadata, **self.optimizer.step_counts(), **averages}
            content = (self._state_entries(entries_of), texts)
        return self._write_file(directory, what, content, sharded=sharded)

    def _state_entries(self, entries_of: EntriesOf) -> Iterator[Any]:
        order = self._moment_order()
        for name, prefix in MOMENTS.items():
            entries = {
                entry[0]: entry for entry in self._entries(self.optimizer.moments(name), prefix, entries_of)
            }
            yield from (entries[name] for part in order if (name := prefix + part) in entries)
        if self._moving is not None:
            yield from self._entries(self._moving, AVERAGE_PREFIX, entries_of)

    def _entries(self, shards: Shards, prefix: str, entries_of: EntriesOf) -> Iterator[Any]:
        for sharded, shard in zip(self.weights.trained, shards, strict=True):
            yield from entries_of(prefix + sharded.part.name, sharded, shard)

    def load(self, weights: str, optimizer: str | None) -> None:
        """Return to a saved state; both files are checked before anything changes. Without an optimizer's file it starts from 0."""
        checks = {"weights": self.weights.require_in, "optimizer": self._require_state}
        paths = {"weights": weights, **({} if optimizer is None else {"optimizer": optimizer})}
        files = self._open_files(paths, checks)
        self.discard()
        self.weights.reshard()
        self.weights.read(files["weights"], self.weights.shards())
        self.optimizer.reset()
        self._moving = None
        if optimizer is not None:
            self.optimizer.read(files["optimizer"])
            if files["optimizer"].metadata.get("averages") == "yes":
                self._moving = self.weights.copy()
                self.weights.read(files["optimizer"], self._moving, AVERAGE_PREFIX)
        self._is_loaded = True

    def _require_state(self, file: TensorFile) -> None:
        self.optimizer.require_in(file)
        if file.metadata.get("averages") == "yes":
            self.weights.require_in(file, AVERAGE_PREFIX)


Entry = tuple[str, tuple[int, ...], Callable[[], torch.Tensor]]
EntriesOf = Callable[[str, Sharded, torch.Tensor], Iterator[Entry]]


def whole_entries(name: str, sharded: Sharded, shard: torch.Tensor) -> Iterator[Entry]:
    """The tensor with the rows of all ranks."""
    yield name, sharded.part.shape, lambda: sharded.whole(shard)


def own_entries(name: str, _: Sharded, shard: torch.Tensor) -> Iterator[Entry]:
    """The rows of this rank; nothing where it has none."""
    if len(shard):
        yield name, tuple(shard.shape), lambda: shard


def numpy_of(column: torch.Tensor) -> NDArray[Any]:
    """A column in host memory."""
    values: NDArray[Any] = column.cpu().numpy()
    return values
