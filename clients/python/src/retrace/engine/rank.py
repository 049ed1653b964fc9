"""What every rank does: calls of rank 0, one after the other."""

from __future__ import annotations

import gc
import sys
from typing import Any

import torch

from .engine import Engine
from .engine_base import EngineBase
from .errors import EngineError
from .group import Group
from .options import OpenOptions

CLOSE = "close"


class Rank:
    """Holds the engine of this rank, and makes the same calls on it as the other ranks do on theirs."""

    def __init__(self, group: Group):
        self.group = group
        self.engine: EngineBase | None = None
        self._options: OpenOptions | None = None

    def call(self, name: str, /, **arguments: Any) -> Any:
        """Make a call on all ranks, from rank 0; returns what it has there."""
        self.group.broadcast((name, arguments))
        return self._make(name, arguments)

    def follow(self) -> None:
        """Make the calls of rank 0 until it closes; an error that only this rank may have ends it.

        Raises `RANK_LOST` when rank 0 is gone.
        """
        while True:
            try:
                name, arguments = self.group.broadcast()
            except RuntimeError as error:
                raise EngineError(
                    "RANK_LOST", f"rank 0 of the engine is gone ({error}); start again"
                ) from error
            if name == CLOSE:
                return
            try:
                self._make(name, arguments)
            except EngineError as error:
                # All ranks have it, and rank 0 answers with it.
                print(f"rank {self.group.rank}: {error}", file=sys.stderr, flush=True)

    def close_others(self) -> None:
        """End the ranks that follow, from rank 0, between two calls."""
        self.group.broadcast((CLOSE, {}))

    def abandon(self) -> None:
        """Free the engine after an error in its midst; `load` makes it again."""
        self.engine = None
        gc.collect()
        if self.group.device.type == "cuda":
            torch.cuda.empty_cache()

    def _make(self, name: str, arguments: dict[str, Any]) -> Any:
        if name == "check":
            return check(arguments["options"], self.group)
        if name == "open":
            self.abandon()
            self._options = arguments["options"]
            self.engine = make_engine(arguments["options"], self.group)
            return [{"name": part.name, "shape": list(part.shape)} for part in self.engine.trained_parts()]
        if self.engine is None and name == "load" and self._options is not None:
            self.engine = make_engine(self._options, self.group)
        if self.engine is None:
            raise EngineError(
                "NOT_OPEN", "the engine has no weights: it is not open, or a call failed; open or load"
            )
        return getattr(self.engine, name)(**arguments)


def check(options: OpenOptions, group: Group) -> None:
    """Refuse what no engine here can honour, before the one that is open is given up."""
    if options.verl is not None:
        from .verl.engine import require_verl

        require_verl(options, options.verl, group)


def make_engine(options: OpenOptions, group: Group) -> EngineBase:
    """Make the engine that is asked for; it has no weights before `load`."""
    if options.verl is None:
        return Engine(options, group)
    from .verl.engine import VerlEngine

    return VerlEngine(options, options.verl, group)
