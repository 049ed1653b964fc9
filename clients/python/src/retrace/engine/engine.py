"""One rank of the worker: a policy with its optimizer.

All ranks make the same calls in the same order; what a call returns counts on rank 0.
"""

from __future__ import annotations

import resource
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .checkpoints import TensorFile, write_tensors
from .errors import EngineError, invalid
from .group import Group
from .layout import buckets
from .model import Pack, RotaryCache, Wanted, make_pack
from .optimizer import MOMENTS, Applied, Optimizer, StepOptions
from .options import OpenOptions
from .shares import Sequences, cut, share_out
from .weights import Shards, Weights

Columns = dict[str, NDArray[np.float32]]

AVERAGE_PREFIX = "average."
# With factors of 8 bits, equal contexts in unequal batches differ by a few per cent at unlikely tokens.
RATIO_TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 0.05}


@dataclass(frozen=True)
class ForwardOptions:
    """How tokens are evaluated."""

    temperature: float
    squares: bool
    weights: str
    graph: str | None
    """Names the graph that is kept; None keeps none."""


@dataclass(frozen=True)
class Graph:
    """A forward pass whose gradient is still to come."""

    name: str
    num_rows: int
    columns: dict[str, torch.Tensor]
    rows: NDArray[np.int64]
    """[M of this rank] the place of each output among all wanted tokens; fewer than outputs where the rank had no work."""


class Engine:
    """Forward, backward and optimizer of one policy."""

    def __init__(self, options: OpenOptions, group: Group):
        self._options, self._group = options, group
        if group.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats()
            # A backward that was cut off may have left it on.
            torch.use_deterministic_algorithms(False)
        self._dtype = torch.bfloat16 if options.is_bfloat16 else torch.float32
        self.weights = Weights(options, group)
        self._rotary = RotaryCache(options.shape, group.device, self._dtype)
        self._graph: Graph | None = None
        self._moving: Shards | None = None
        self._fixed: Shards | None = None
        self._is_loaded = False
        self._has_gradients = False
        self.figures = {"forwardSeconds": 0.0, "backwardSeconds": 0.0, "stepSeconds": 0.0, "tokens": 0}
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

    @property
    def ratio_tolerance(self) -> float:
        """Largest |ratio - 1| by which probabilities of equal weights may differ between this engine and the sampler."""
        return RATIO_TOLERANCE[self._dtype]

    # Evaluation

    def forward(self, sequences: Sequences, wanted: NDArray[np.bool_], options: ForwardOptions) -> Columns:
        """Evaluate wanted tokens, of which none is the first of its sequence: float32 columns with one row for each."""
        self._require_loaded()
        self._validate(sequences)
        other = self._other_weights(options.weights)
        asks = Wanted(options.temperature, values=self._options.shape.value_head, squares=options.squares)
        with self._timed("forwardSeconds"):
            self.figures["tokens"] += len(sequences.tokens)
            if options.graph is not None:
                return self._forward_with_graph(sequences, wanted, asks, options.graph)
            # The weights that are evaluated instead have no critic's values that anybody asks for.
            if other is not None:
                asks = Wanted(options.temperature, squares=options.squares)
            with torch.no_grad(), nullcontext() if other is None else self.weights.replaced_by(other):
                reads = np.flatnonzero(wanted) - 1
                return self._evaluate(sequences, reads, asks)

    def ends(self, sequences: Sequences) -> NDArray[np.float32]:
        """V after the last token of each sequence; 0 for an empty one."""
        self._require_loaded()
        self._validate(sequences)
        if not self._options.shape.value_head:
            raise EngineError("UNSUPPORTED", "the policy has no critic, so it has no values", "valueHead")
        filled = np.flatnonzero(sequences.lengths)
        reads = sequences.offsets[filled + 1] - 1
        with torch.no_grad(), self._timed("forwardSeconds"):
            columns = self._evaluate(sequences, reads, Wanted(logprobs=False, values=True))
        values = np.zeros(len(sequences), np.float32)
        if columns:
            values[filled] = columns["value"]
        return values

    def _evaluate(self, sequences: Sequences, reads: NDArray[np.int64], asks: Wanted) -> Columns:
        """Columns for ascending reads, in passes of at most `maxTokensPerMicroBatch` tokens a rank."""
        lengths = sequences.lengths.tolist()
        chosen = np.unique(np.searchsorted(sequences.offsets, reads, side="right") - 1).tolist()
        shares = share_out(lengths, chosen, self._group.size)
        cuts = [cut(lengths, share, self._options.max_tokens) for share in shares]
        mine = cuts[self._group.rank]
        parts: list[tuple[NDArray[np.int64], Columns]] = []
        for i in range(max(map(len, cuts))):
            # All ranks make the same number of passes, since each collects parameters from all.
            rows, pack = self._pack(sequences, reads, mine[i] if i < len(mine) else [])
            columns = self._pass(pack, asks)
            parts.append((rows, {name: numpy_of(column)[: len(rows)] for name, column in columns.items()}))
        return self._collect(parts, len(reads))

    def _forward_with_graph(
        self, sequences: Sequences, wanted: NDArray[np.bool_], asks: Wanted, name: str
    ) -> Columns:
        self.drop_graph()
        reads = np.flatnonzero(wanted) - 1
        if len(reads) == 0:
            self._graph = Graph(name, 0, {}, np.empty(0, np.int64))
            return {}
        lengths = sequences.lengths.tolist()
        chosen = np.unique(np.searchsorted(sequences.offsets, reads, side="right") - 1).tolist()
        share = share_out(lengths, chosen, self._group.size)[self._group.rank]
        rows, pack = self._pack(sequences, reads, share)
        columns = self._pass(pack, asks)
        self._graph = Graph(name, len(reads), columns, rows)
        found = {key: numpy_of(column.detach())[: len(rows)] for key, column in columns.items()}
        return self._collect([(rows, found)], len(reads))

    def _pass(self, pack: Pack, asks: Wanted) -> dict[str, torch.Tensor]:
        columns: dict[str, torch.Tensor] = self.weights.policy(pack, asks)
        return columns

    def _pack(
        self, sequences: Sequences, reads: NDArray[np.int64], chosen: list[int]
    ) -> tuple[NDArray[np.int64], Pack]:
        """The pack of some sequences, each up to its last read, and which of all reads it has."""
        if not chosen:
            return np.empty(0, np.int64), self._empty_pack()
        pieces, rows, places, size = [], [], [], 0
        for s in chosen:
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
        return joined, make_pack(tokens, at, targets, self._rotary, self._group.device, self._dtype)

    def _empty_pack(self) -> Pack:
        """One token whose outputs nobody reads."""
        token, places = torch.zeros(1, dtype=torch.long), torch.zeros(2, dtype=torch.long)
        return make_pack([token], places, places, self._rotary, self._group.device, self._dtype)

    def _collect(self, parts: list[tuple[NDArray[np.int64], Columns]], num_rows: int) -> Columns:
        """Bring the rows of all ranks in order, on rank 0."""
        whole: Columns = {}
        for gathered in self._group.gather(parts):
            for rows, columns in gathered:
                for name, column in columns.items():
                    whole.setdefault(name, np.zeros(num_rows, np.float32))[rows] = column
        return whole

    # Training

    def backward(self, name: str, derivatives: Mapping[str, NDArray[np.float32]]) -> None:
        """Add the gradient of Σ derivative·output to what is accumulated."""
        graph = self._graph
        if graph is None or graph.name != name:
            kept = "none is kept" if graph is None else f"{graph.name!r} is kept"
            raise EngineError(
                "NO_GRAPH", f"there is no graph {name!r}: {kept}; make the forward pass again", "graph"
            )
        for column, values in derivatives.items():
            if len(values) != graph.num_rows:
                raise invalid(
                    column, f"{len(values)} rows", f"{graph.num_rows} rows, one for each token of the forward"
                )
            if column == "value" and not self._options.shape.value_head:
                raise EngineError("UNSUPPORTED", "the policy has no critic; leave dValue out", "dValue")
        self._graph = None
        with self._timed("backwardSeconds"):
            if graph.num_rows == 0 or not derivatives:
                return
            self._has_gradients = True
            outputs = [graph.columns[column] for column in derivatives]
            gradients = [self._shared(values, graph, outputs[0]) for values in derivatives.values()]
            torch.autograd.backward(outputs, gradients)

    def _shared(self, values: NDArray[np.float32], graph: Graph, output: torch.Tensor) -> torch.Tensor:
        mine = torch.zeros(len(output), dtype=torch.float32)
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

    def save(self, directory: str, what: str, metadata: Mapping[str, str]) -> dict[str, Any]:
        """Write weights, and for `state` the optimizer too, into files that are durable afterwards."""
        self._require_loaded()
        self._group.agree(
            None if Path(directory).is_dir() or self._group.rank > 0 else no_directory(directory)
        )
        names = {"weights": f"weights-{secrets.token_hex(8)}.safetensors"}
        if what == "state":
            names["optimizer"] = f"optimizer-{secrets.token_hex(8)}.safetensors"
        contents = {"weights": (self._weight_entries(), metadata)}
        if what == "state":
            step = self.optimizer.step_counts()
            averages = {} if self._moving is None else {"averages": "yes"}
            contents["optimizer"] = (self._state_entries(), {**step, **averages})
        for key, (entries, texts) in contents.items():
            path = Path(directory) / names[key]
            refused = write_tensors(path, entries, texts, is_writer=self._group.rank == 0)
            reason = None if refused is None else f"{path} could not be written ({refused}); free disk space"
            self._group.agree(None if reason is None else EngineError("INTERNAL", reason))
        return {key: {"file": name} for key, name in names.items()}

    def _weight_entries(self) -> Iterator[Any]:
        return self._entries(self.weights.shards(), "")

    def _state_entries(self) -> Iterator[Any]:
        trained = [spec for spec in self.weights.specs if not spec.is_frozen]
        order = [
            part.name
            for bucket in buckets(trained, self._options.optimizer.separate_critic)
            for spec in bucket
            for part in spec.parts
        ]
        for name, prefix in MOMENTS.items():
            entries = {entry[0]: entry for entry in self._entries(self.optimizer.moments(name), prefix)}
            yield from (entries[prefix + part] for part in order)
        if self._moving is not None:
            yield from self._entries(self._moving, AVERAGE_PREFIX)

    def _entries(self, shards: Shards, prefix: str) -> Iterator[Any]:
        for sharded, shard in zip(self.weights.trained, shards, strict=True):
            values = lambda sharded=sharded, shard=shard: sharded.whole(shard)  # noqa: E731
            yield prefix + sharded.part.name, sharded.part.shape, values

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

    def _open_files(self, paths: Mapping[str, str], checks: Mapping[str, Any]) -> dict[str, TensorFile]:
        """Open and check files on every rank; raises on all where one rank can't use them."""
        files: dict[str, TensorFile] = {}
        error = None
        try:
            for key, path in paths.items():
                files[key] = TensorFile(path)
                checks[key](files[key])
        except EngineError as found:
            error = found
        self._group.agree(error)
        return files

    # Checks and figures

    def metrics(self) -> dict[str, Any]:
        """Memory and time since the engine was opened; peak memory is this rank's."""
        on_gpu = self._group.device.type == "cuda"
        peak = (
            torch.cuda.max_memory_allocated()
            if on_gpu
            else 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        )
        return {"peakMemoryBytes": peak, **self.figures}

    def _validate(self, sequences: Sequences) -> None:
        shape = self._options.shape
        if len(sequences) and sequences.lengths.max() > shape.max_positions:
            s = int(sequences.lengths.argmax())
            rule = f"at most maxPositions, {shape.max_positions}, tokens long"
            raise invalid(f"tokens[{s}]", f"{sequences.lengths[s]} tokens", rule)
        bad = np.flatnonzero((sequences.tokens < 0) | (sequences.tokens >= shape.vocab_size))
        if len(bad):
            raise invalid(f"token {bad[0]}", int(sequences.tokens[bad[0]]), f"in 0 … {shape.vocab_size - 1}")

    def _require_loaded(self) -> None:
        if not self._is_loaded:
            raise EngineError("NOT_OPEN", "the engine has no weights yet; load them first")

    @contextmanager
    def _timed(self, figure: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        if figure == "stepSeconds" and self._group.device.type == "cuda":
            # The passes of an update overlap with its calls; what comes after the step doesn't wait for it.
            torch.cuda.synchronize()
        self.figures[figure] += time.perf_counter() - start


def numpy_of(column: torch.Tensor) -> NDArray[np.float32]:
    """A column in host memory."""
    values: NDArray[np.float32] = column.cpu().numpy()
    return values


def no_directory(directory: str) -> EngineError:
    """A directory to save into that isn't there."""
    return invalid("directory", directory, "a directory that exists on the engine's machine")
