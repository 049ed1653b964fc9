"""Safetensors files that are read; `writing.py` writes them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from .errors import EngineError
from .layout import Part

# Bytes at each end of a file that a fingerprint covers.
SAMPLE_BYTES = 2**20


def damaged(path: str | Path, reason: object) -> EngineError:
    """A file that can't be used."""
    return EngineError("FILE_DAMAGED", f"{path}: {reason}")


class TensorFile:
    """A file whose tensors are read one at a time, or only some rows of them.

    It may be an index of shards, which lie beside it: each then has some rows of a tensor, in the order of the index.
    """

    def __init__(self, path: str | Path):
        self.path = path
        index = _open(path)
        self.metadata: dict[str, str] = index.metadata() or {}
        names = shard_names(path, self.metadata)
        self.is_index = names is not None
        self._files = [index] if names is None else [_open(Path(path).parent / name) for name in names]
        self.names = {name for file in self._files for name in file.keys()}  # noqa: SIM118

    def _parts(self, name: str) -> list[Any]:
        return [file.get_slice(name) for file in self._files if name in file.keys()]  # noqa: SIM118

    def require(self, name: str, shape: tuple[int, ...]) -> None:
        """Check that a tensor is there with this shape."""
        shapes = [tuple(part.get_shape()) for part in self._parts(name)]
        if len(shapes) > 1 and len({part[1:] for part in shapes}) == 1:
            shapes = [(sum(part[0] for part in shapes), *shapes[0][1:])]
        if shapes != [shape]:
            has = f"has shape {' and '.join(str(list(part)) for part in shapes)}" if shapes else "is missing"
            raise damaged(self.path, f"tensor {name} {has}; the model needs {list(shape)}")

    def rows(self, name: str, start: int, end: int, device: torch.device) -> torch.Tensor:
        """Read some rows of a tensor to a device, as float32; they must be finite."""
        try:
            pieces, at = [], 0
            parts = self._parts(name)
            for part in parts:
                first, at = at, at + part.get_shape()[0]
                if len(parts) == 1 or (start < at and first < end):
                    pieces.append(part[max(start - first, 0) : min(end, at) - first])
            values = pieces[0] if len(pieces) == 1 else torch.cat(pieces or [parts[0][0:0]])
            values = values.to(device).float()
        except (SafetensorError, OSError) as error:
            raise damaged(self.path, f"tensor {name}: {error}") from error
        if not bool(torch.isfinite(values).all()):
            raise damaged(self.path, f"tensor {name} has values that are not finite")
        return values


def _open(path: str | Path) -> Any:
    if not os.path.isfile(path):
        raise damaged(path, "no such file; give the path of a safetensors file on the engine's machine")
    try:
        return safe_open(str(path), framework="pt").__enter__()
    except (SafetensorError, OSError) as error:
        raise damaged(path, error) from error


def shard_names(path: str | Path, metadata: Mapping[str, str]) -> list[str] | None:
    """Names of the files that an index lists, as libs/policy writes it; None for a file that is none."""
    text = metadata.get("retraceShards")
    if text is None:
        return None
    shards = [shard.partition(":")[0] for shard in text.split(",")]
    if not all(re.fullmatch("[0-9a-f]{64}", sha256) for sha256 in shards):
        raise damaged(path, f"metadata.retraceShards is {text[:200]!r}; it must list SHA-256:bytes")
    return [f"{sha256}.safetensors" for sha256 in shards]


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
