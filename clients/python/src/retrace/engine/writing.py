"""Safetensors files that are written, with exactly the bytes that libs/policy/src/checkpoints writes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

# The data of a file starts at a multiple of this.
ALIGNMENT = 8
# Bytes that may wait in memory for the disk, beside the newest tensor.
MOST_WAITING_BYTES = 2**26


@dataclass(frozen=True)
class Written:
    """Content that other processes can read, if it has a file."""

    sha256: str
    size_bytes: int
    durable: Future[None] | None
    """Has an `OSError` where the disk refuses; None without a file."""


class _FileWriter:
    """A new file that a thread writes, while its caller hashes the same bytes. After an `OSError` it is of no further use."""

    def __init__(self, path: Path):
        self._path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="save")
        self._stream = open(path, "xb")  # noqa: SIM115
        self._waiting: deque[Future[int]] = deque()
        self._waiting_bytes = 0

    def write(self, piece: bytes | memoryview) -> None:
        """Write a piece, which stays as it is until `flush` returns; raises what the disk refused of an earlier one."""
        while self._waiting_bytes > MOST_WAITING_BYTES:
            self._await_first()
        self._waiting.append(self._thread.submit(self._stream.write, piece))
        self._waiting_bytes += len(piece)

    def flush(self) -> None:
        """Wait until everything is in the file, where others can read it."""
        while self._waiting:
            self._await_first()
        self._stream.flush()

    def _await_first(self) -> None:
        self._waiting_bytes -= self._waiting.popleft().result()

    def sync(self) -> Future[None]:
        """Begin to make the file durable, and close it; its name is durable once its directory is synced."""
        done = self._thread.submit(self._sync)
        self._thread.shutdown(wait=False)
        return done

    def remove(self) -> None:
        """Give the file up."""
        self._thread.shutdown()
        # It may be what the disk refused before.
        with contextlib.suppress(OSError):
            self._stream.close()
        self._path.unlink(missing_ok=True)

    def _sync(self) -> None:
        with self._stream:
            os.fsync(self._stream.fileno())


def write_tensors(
    path: Path | None,
    entries: Iterable[tuple[str, tuple[int, ...], Callable[[], torch.Tensor]]],
    metadata: Mapping[str, str],
    *,
    is_writer: bool,
) -> Written | OSError:
    """Write float32 tensors one at a time; returns what was written, or what the disk refused.

    Every rank must call it where the values of a sharded tensor come from all of them; only the writer opens the file. The tensors
    may change afterwards. Without a path the content only gets its name.
    """
    entries = list(entries)
    text, data_bytes = _header(entries, metadata)
    digest = hashlib.sha256()
    file: _FileWriter | None = None
    refused: OSError | None = None

    def write(piece: bytes | memoryview) -> None:
        if file is not None:
            file.write(piece)
        digest.update(piece)

    with contextlib.ExitStack() as unfinished:
        try:
            if is_writer and path is not None:
                file = _FileWriter(path)
                unfinished.callback(file.remove)
            if is_writer:
                write(text)
        except OSError as error:
            refused = error
        for _, _, values in entries:
            tensor = values()
            if not is_writer or refused is not None:
                continue
            try:
                write(memoryview(tensor.detach().float().cpu().contiguous().numpy()).cast("B"))
            except OSError as error:
                refused = error
        try:
            if file is not None and refused is None:
                file.flush()
        except OSError as error:
            refused = error
        if refused is not None:
            return refused
        unfinished.pop_all()
    return Written(digest.hexdigest(), len(text) + data_bytes, None if file is None else file.sync())


def _header(
    entries: Iterable[tuple[str, tuple[int, ...], object]], metadata: Mapping[str, str]
) -> tuple[bytes, int]:
    """What precedes the data of a file, and how many bytes of data follow."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    end = 0
    for name, shape, _ in entries:
        start, end = end, end + 4 * int(torch.Size(shape).numel())
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % ALIGNMENT)
    return struct.pack("<Q", len(text)) + text, end
