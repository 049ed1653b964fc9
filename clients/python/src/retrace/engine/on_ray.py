"""`python -m retrace.engine.on_ray`: the worker's ranks as workers of Ray Train, which starts them all again when one is lost."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .rank import Rank

# Starts in a row of one rank that may fail, for example because the port is taken, before Ray starts the ranks no more.
MAX_FAILED_STARTS = 3

MISSING = "this needs Ray: pip install 'clients/python[engine,ray]' in a checkout of Retrace"


def main() -> int:
    """Run the ranks in a Ray cluster until the worker is closed or this process is ended; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m retrace.engine.on_ray", description=__doc__)
    parser.add_argument("--nproc", type=int, default=1, help="ranks, each on a CPU or GPU of the cluster")
    parser.add_argument("--gpu", action="store_true", help="a GPU for each rank; never tried")
    parser.add_argument("--address", default="auto", help="the cluster, as ray.init takes it")
    parser.add_argument("--host", default="127.0.0.1", help="address that rank 0 listens on, on its node")
    parser.add_argument("--port", type=int, default=8100)
    parser.add_argument(
        "--token-file", required=True, type=Path, help="a file with the token, which the node of rank 0 sees"
    )
    parser.add_argument("--storage", help="directory for the records of Ray Train (default: Ray's own)")
    arguments = parser.parse_args()
    if arguments.nproc < 1:
        parser.error(f"--nproc is {arguments.nproc}; it must be at least 1")
    try:
        read_token(arguments.token_file)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        parser.error(f"--token-file: {error}")
    try:
        import ray
        from ray.train import FailureConfig, RunConfig, ScalingConfig
        from ray.train.torch import TorchConfig, TorchTrainer

        from . import server  # noqa: F401  # Ray would start the ranks for ever that lack its packages.
    except ImportError as error:
        print(f"{MISSING} ({error})", file=sys.stderr)
        return 1
    ray.init(address=arguments.address)
    # Its node may be lost, too; it then counts from zero.
    starts: Any = ray.remote(Starts).options(num_cpus=0, max_restarts=-1, max_task_retries=-1).remote()
    trainer = TorchTrainer(
        run_rank,
        train_loop_config={
            "host": arguments.host,
            "port": arguments.port,
            # Its path only, since Ray shows the settings of a run to whoever sees its dashboard.
            "token_file": str(arguments.token_file.resolve()),
            "starts": starts,
        },
        torch_config=TorchConfig(backend="cpu:gloo,cuda:nccl" if arguments.gpu else "gloo"),
        scaling_config=ScalingConfig(num_workers=arguments.nproc, use_gpu=arguments.gpu),
        run_config=RunConfig(
            storage_path=arguments.storage,
            # The trainer counts the losses, and gives up where the worker is lost again and again.
            failure_config=FailureConfig(max_failures=-1),
        ),
    )
    trainer.fit()
    fault = ray.get(starts.given_up.remote())
    if fault is None:
        return 0
    print(f"{fault}; it failed at {MAX_FAILED_STARTS} starts in a row", file=sys.stderr)
    return 1


class Starts:
    """Counts failed starts by rank, over all groups of workers: an actor of Ray, as each group is of new processes."""

    def __init__(self) -> None:
        self._failures: dict[int, int] = {}
        self._fault: str | None = None

    def succeeded(self) -> None:
        """Count from zero again: rank 0 serves."""
        self._failures = {}

    def failed(self, rank: int, fault: str) -> None:
        """Count a start of a rank that failed, or its end by an error of its own while it followed rank 0."""
        self._failures[rank] = self._failures.get(rank, 0) + 1
        if self._failures[rank] >= MAX_FAILED_STARTS:
            self._fault = self._fault or f"rank {rank}: {fault}"

    def given_up(self) -> str | None:
        """The fault after which there should be no other start."""
        return self._fault


def run_rank(settings: dict[str, Any]) -> None:
    """Run one rank in a worker of Ray Train, which has opened the process group and opens another when this raises."""
    import ray
    from ray.train import get_context

    starts = settings["starts"]
    # Where this is so, all ranks of the group find it so, and Ray starts none after they return.
    if ray.get(starts.given_up.remote()) is not None:
        return
    number = get_context().get_world_rank()
    is_ready = False

    def ready() -> None:
        nonlocal is_ready
        is_ready = True
        ray.get(starts.succeeded.remote())

    try:
        from .group import Group
        from .rank import Rank

        rank = Rank(Group())
        if number == 0:
            serve_rank(rank, settings, ready)
        else:
            rank.follow()
    except Exception as error:
        if not is_ready and is_own_fault(error):
            ray.get(starts.failed.remote(number, f"{error}"))
        raise


def is_own_fault(error: Exception) -> bool:
    """Whether a rank itself failed: where it lost rank 0, the fault is that rank's."""
    return getattr(error, "code", None) != "RANK_LOST"


def serve_rank(rank: Rank, settings: dict[str, Any], ready: Callable[[], None]) -> None:
    """Serve from rank 0 until the trainer closes the engine; calls `ready` once the address answers."""
    from .server import serve

    token = read_token(Path(settings["token_file"]))
    code = asyncio.run(serve(rank, settings["host"], settings["port"], token, lambda _end: ready()))
    if code != 0:
        raise RuntimeError("the engine lost its group")


def read_token(path: Path) -> str:
    """The token in a file. Raises ValueError where there is none in it, OSError where it can't be read."""
    token = path.read_text().strip()
    if not token:
        raise ValueError(f"{path} is empty; it must hold the token")
    return token


if __name__ == "__main__":
    sys.exit(main())
