"""What the ranks of every engine share: checks of calls, rows of all ranks in order, files, figures."""

from __future__ import annotations

import resource
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .checkpoints import TensorFile
from .errors import EngineError, invalid
from .group import Group
from .layout import Part, buckets, parameter_specs
from .options import OpenOptions
from .shares import Sequences
from .writing import write_tensors

Columns = dict[str, NDArray[Any]]
"""[M], and [M, k] for ids and logprobs beside those of the tokens. All float32 but `topId`, which is int32."""

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
    num_chosen: int = 0
    """How many ids a token the call brings, whose logprobs are wanted."""
    top_k: int = 0
    """How many of the likeliest ids are wanted."""


# Tells a shard from a whole file, for caches of the trainer.
SHARD_TEXTS = {"retraceShard": "yes"}

FileContent = tuple[Iterable[Any], Mapping[str, str]]
"""Entries of `write_tensors`, and the text entries of the file."""


class EngineBase:
    """One rank of an engine."""

    backend = "native"
    """What computes."""

    def __init__(self, options: OpenOptions, group: Group):
        self._options, self._group = options, group
        if group.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats()
        self._dtype = torch.bfloat16 if options.is_bfloat16 else torch.float32
        self._is_loaded = False
        self._unsynced: list[tuple[Path, Future[None]]] = []
        self.figures = {"forwardSeconds": 0.0, "backwardSeconds": 0.0, "stepSeconds": 0.0, "tokens": 0}

    @property
    def ratio_tolerance(self) -> float:
        """Largest |ratio - 1| of a token by which equal weights may differ here and in the sampler; in bfloat16 the mean of all."""
        return RATIO_TOLERANCE[self._dtype]

    def trained_parts(self) -> list[Part]:
        """The trained parameters in the order of files."""
        return [
            part for spec in parameter_specs(self._options.shape) if not spec.is_frozen for part in spec.parts
        ]

    def _collect(self, parts: list[tuple[NDArray[np.int64], Columns]], num_rows: int) -> Columns:
        """Bring the rows of all ranks in order, on rank 0."""
        whole: Columns = {}
        for gathered in self._group.gather(parts):
            for rows, columns in gathered:
                for name, column in columns.items():
                    empty = np.zeros((num_rows, *column.shape[1:]), column.dtype)
                    whole.setdefault(name, empty)[rows] = column
        return whole

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

    def _write_file(
        self, directory: str | None, key: str, content: FileContent, *, sharded: bool = False
    ) -> dict[str, Any]:
        """Write a file of a random name that is durable after `sync`: rank 0 the whole, or every rank the entries that it has.

        Every rank must call it. Returns on rank 0 the files of all ranks in their order, and the texts of the whole. Without a
        directory nothing is written.
        """
        writes = sharded or self._group.rank == 0
        is_there = directory is None or not writes or Path(directory).is_dir()
        self._group.agree(None if is_there else no_directory(str(directory)))
        entries, texts = list(content[0]), dict(content[1])
        is_writer = writes and (not sharded or len(entries) > 0)
        name = f"{key}-{secrets.token_hex(8)}.safetensors"
        path = Path(directory or ".") / name
        own_texts = SHARD_TEXTS if sharded else texts
        written = write_tensors(None if directory is None else path, entries, own_texts, is_writer=is_writer)
        refused = written if isinstance(written, OSError) else None
        self._group.agree(None if refused is None else not_written(path, refused))
        file = None
        if is_writer and not isinstance(written, OSError):
            file = {"file": name, "sha256": written.sha256, "sizeBytes": written.size_bytes}
            if written.durable is not None:
                self._unsynced.append((path, written.durable))
        files = [found for found in self._group.gather(file) if found is not None]
        return {"files": files, "texts": texts}

    def sync(self) -> None:
        """Wait until the content of all files that were written is durable; every rank must call it.

        A file that the disk refuses is reported by every later call too, as the answer to the first may be lost.
        """
        refused = [(path, error) for path, done in self._unsynced if (error := done.exception()) is not None]
        self._unsynced = [(path, done) for path, done in self._unsynced if done.exception() is not None]
        self._group.agree(not_written(*refused[0]) if refused else None)

    def _moment_order(self) -> list[str]:
        """Names of trained parameters as the optimizer's file orders them."""
        trained = [spec for spec in parameter_specs(self._options.shape) if not spec.is_frozen]
        return [
            part.name
            for bucket in buckets(trained, self._options.optimizer.separate_critic)
            for spec in bucket
            for part in spec.parts
        ]

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

    def _validate_ids(self, chosen: NDArray[np.int32], top_k: int) -> None:
        size = self._options.shape.vocab_size
        if chosen.size and not 0 <= chosen.min() <= chosen.max() < size:
            bad = int(chosen[(chosen < 0) | (chosen >= size)][0])
            raise invalid("topIds", bad, f"in 0 … {size - 1}")
        if top_k > size:
            raise invalid("topK", top_k, f"at most the size of the vocabulary, {size}")

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


def no_directory(directory: str) -> EngineError:
    """A directory to save into that isn't there."""
    return invalid("directory", directory, "a directory that exists on the engine's machine")


def not_written(path: Path, refused: BaseException) -> EngineError:
    """A file that the disk refused."""
    return EngineError("INTERNAL", f"{path} could not be written ({refused}); free disk space")


def no_graph(name: str, kept: str | None) -> EngineError:
    """A graph that is asked for and isn't the one that is kept."""
    has = "none is kept" if kept is None else f"{kept!r} is kept"
    return EngineError("NO_GRAPH", f"there is no graph {name!r}: {has}; make the forward pass again", "graph")


def require_rows(derivatives: Mapping[str, NDArray[np.float32]], num_rows: int) -> None:
    """Check that each output of a pass has a derivative for each of its rows."""
    for column, values in derivatives.items():
        if len(values) != num_rows:
            raise invalid(
                column, f"{len(values)} rows", f"{num_rows} rows, one for each token of the forward"
            )


def require_width(derivatives: NDArray[np.float32], output: torch.Tensor | None) -> None:
    """Check that the logprobs of chosen ids have a derivative for each."""
    width = 0 if output is None else output.shape[1]
    if output is None or derivatives.shape[1] != width:
        rule = f"{width} a token, as many as the ids of the forward"
        raise invalid("dTopLogprob", f"{derivatives.shape[1]} a token", rule)


def no_critic() -> EngineError:
    """A derivative by values that the policy has not."""
    return EngineError("UNSUPPORTED", "the policy has no critic; leave dValue out", "dValue")
