"""`python -m retrace.engine.on_ray`: the worker's ranks as workers of Ray Train, which starts them all again when one is lost."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Any

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
        import ray
        from ray.train import FailureConfig, RunConfig, ScalingConfig
        from ray.train.torch import TorchConfig, TorchTrainer
    except ImportError as error:
        print(f"{MISSING} ({error})", file=sys.stderr)
        return 1
    ray.init(address=arguments.address)
    trainer = TorchTrainer(
        run_rank,
        train_loop_config={
            "host": arguments.host,
            "port": arguments.port,
            # Its path only, since Ray shows the settings of a run to whoever sees its dashboard.
            "token_file": str(arguments.token_file.resolve()),
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
    return 0


def run_rank(settings: dict[str, Any]) -> None:
    """Run one rank in a worker of Ray Train, which has opened the process group and opens another when this raises."""
    from .group import Group
    from .rank import Rank
    from .server import serve

    rank = Rank(Group())
    if rank.group.rank != 0:
        rank.follow()
        return
    token = Path(settings["token_file"]).read_text().strip()
    if not token:
        raise ValueError(f"--token-file {settings['token_file']} is empty; it must hold the token")
    code = asyncio.run(serve(rank, settings["host"], settings["port"], token, lambda _end: None))
    if code != 0:
        raise RuntimeError("the engine lost its group")


if __name__ == "__main__":
    sys.exit(main())
