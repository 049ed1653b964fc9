"""Safetensors files, with exactly the bytes that libs/policy/src/checkpoints writes."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from .errors import EngineError
from .layout import Part

# The data of a file starts at a multiple of this.
ALIGNMENT = 8
# Bytes at each end of a file that a fingerprint covers.
SAMPLE_BYTES = 2**20


def damaged(path: str | Path, reason: object) -> EngineError:
    """A file that can't be used."""
    return EngineError("FILE_DAMAGED", f"{path}: {reason}")


class TensorFile:
    """A file whose tensors are read one at a time, or only some rows of them."""

    def __init__(self, path: str | Path):
        self.path = path
        if not os.path.isfile(path):
            raise damaged(path, "no such file; give the path of a safetensors file on the engine's machine")
        try:
            self._file = safe_open(str(path), framework="pt").__enter__()
        except (SafetensorError, OSError) as error:
            raise damaged(path, error) from error
        self.names = set(self._file.keys())
        self.metadata: dict[str, str] = self._file.metadata() or {}

    def require(self, name: str, shape: tuple[int, ...]) -> None:
        """Check that a tensor is there with this shape."""
        found = tuple(self._file.get_slice(name).get_shape()) if name in self.names else None
        if found != shape:
            has = "is missing" if found is None else f"has shape {list(found)}"
            raise damaged(self.path, f"tensor {name} {has}; the model needs {list(shape)}")

    def rows(self, name: str, start: int, end: int, device: torch.device) -> torch.Tensor:
        """Read some rows of a tensor to a device, as float32; they must be finite."""
        try:
            values = self._file.get_slice(name)[start:end].to(device).float()
        except (SafetensorError, OSError) as error:
            raise damaged(self.path, f"tensor {name}: {error}") from error
        if not bool(torch.isfinite(values).all()):
            raise damaged(self.path, f"tensor {name} has values that are not finite")
        return values


class ModelDirectory:
    """The weights of a Hugging Face directory: one file, or the shards that an index names."""

    def __init__(self, directory: str):
        path = Path(directory)
        index = path / "model.safetensors.index.json"
        self._file_of: dict[str, TensorFile] = {}
        try:
            weight_map = json.loads(index.read_text())["weight_map"] if index.is_file() else None
        except (ValueError, KeyError) as error:
            raise damaged(index, "it has no weight_map") from error
        names = ["model.safetensors"] if weight_map is None else sorted(set(weight_map.values()))
        self._files = [TensorFile(path / os.path.basename(name)) for name in names]
        for file in self._files:
            self._file_of.update(dict.fromkeys(file.names, file))
        self._path = path

    def file_of(self, part: Part) -> TensorFile:
        """The file that holds a weight, which has the model's shape there."""
        file = self._file_of.get(part.name, self._files[0])
        file.require(part.name, part.shape)
        return file

    def fingerprint(self) -> str:
        """The `modelFingerprint` of libs/policy: of the config, and of each file's header and both ends of its data."""
        digest = hashlib.sha256((self._path / "config.json").read_bytes())
        for file in self._files:
            size = os.path.getsize(file.path)
            with open(file.path, "rb") as stream:
                (header_bytes,) = struct.unpack("<Q", stream.read(8))
                head = min(size, 8 + header_bytes + SAMPLE_BYTES)
                stream.seek(0)
                digest.update(stream.read(head))
                stream.seek(max(head, size - SAMPLE_BYTES))
                digest.update(stream.read())
        return digest.hexdigest()


def write_tensors(
    path: Path,
    entries: Iterable[tuple[str, tuple[int, ...], Callable[[], torch.Tensor]]],
    metadata: Mapping[str, str],
    *,
    is_writer: bool,
) -> OSError | None:
    """Write float32 tensors one at a time, and sync the file; returns what the disk refused.

    Every rank must call it, since the values of a sharded tensor come from all of them; only the writer opens the file.
    """
    entries = list(entries)
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    end = 0
    for name, shape, _ in entries:
        start, end = end, end + 4 * int(torch.Size(shape).numel())
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % ALIGNMENT)
    refused: OSError | None = None
    stream = None
    try:
        if is_writer:
            stream = open(path, "xb")  # noqa: SIM115
            stream.write(struct.pack("<Q", len(text)) + text)
    except OSError as error:
        refused = error
    for _, _, values in entries:
        tensor = values()
        if stream is None or refused is not None:
            continue
        try:
            stream.write(memoryview(tensor.detach().float().cpu().contiguous().numpy()).cast("B"))
        except OSError as error:
            refused = error
    return refused if stream is None else _close(stream, path, refused)


def _close(stream: Any, path: Path, refused: OSError | None) -> OSError | None:
    try:
        with stream:
            stream.flush()
            os.fsync(stream.fileno())
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    except OSError as error:
        refused = refused or error
    if refused is not None:
        path.unlink(missing_ok=True)
    return refused
