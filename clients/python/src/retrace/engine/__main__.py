"""`python -m retrace.engine`: serves the engine's wire on rank 0. Other ranks are started by torchrun, Ray or Slurm."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

MISSING = "the engine needs torch, safetensors and aiohttp: pip install 'clients/python[engine]' in a checkout of Retrace"


def main() -> int:
    """Run one rank; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m retrace.engine", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 chooses a free one")
    parser.add_argument(
        "--token-file", required=True, type=Path, help="a file with the token that requests must bear"
    )
    parser.add_argument("--follow-stdin", action="store_true", help="end when standard input closes")
    arguments = parser.parse_args()
    token = arguments.token_file.read_text().strip()
    if not token:
        parser.error(f"--token-file {arguments.token_file} is empty; it must hold the token")
    let_threads_sleep()
    try:
        from .errors import EngineError
        from .group import Group
        from .rank import Rank
        from .server import serve
    except ImportError as error:
        print(f"{MISSING} ({error})", file=sys.stderr)
        return 1
    rank = Rank(Group())
    # The other ranks end with rank 0.
    watch = watch_stdin if arguments.follow_stdin else lambda _end: None
    if rank.group.rank == 0:
        return asyncio.run(serve(rank, arguments.host, arguments.port, token, watch))
    try:
        rank.follow()
    except EngineError as error:
        print(f"rank {rank.group.rank}: {error}", file=sys.stderr)
        return 1
    return 0


def let_threads_sleep() -> None:
    """Have threads of a pass on processors sleep while they wait, where the environment says nothing else; before torch is imported.

    By default they spin for some milliseconds, in which trainer, collector and the worker's server lack their core.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def watch_stdin(end: Callable[[str], None]) -> None:
    """Call back when standard input closes, so that no engine outlives its trainer."""

    def read() -> None:
        while os.read(0, 4096):
            pass
        end("its standard input closed")

    threading.Thread(target=read, daemon=True).start()


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # A thread may be stuck in a collective, and waiting for it would keep the process.
    os._exit(code)
