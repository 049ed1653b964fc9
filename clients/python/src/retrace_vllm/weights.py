"""A transport of weights for vLLM: a worker reads the policy's new weights from a directory that it shares with the trainer.

vLLM's own transports (NCCL, CUDA IPC, RDMA) need GPUs in the training process, too. With this package installed beside vLLM (0.32):

    VLLM_SERVER_DEV_MODE=1 vllm serve DIR --weight-transfer-config '{"backend": "retrace_files"}'

Retrace then calls /pause, /start_weight_update, /update_weights with `{"update_info": {"directory": …}}`,
/finish_weight_update and /resume.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from vllm.distributed.weight_transfer.base import (
    WeightTransferEngine,
    WeightTransferInitInfo,
    WeightTransferUpdateInfo,
)
from vllm.model_executor.model_loader.reload import (
    finalize_layerwise_reload,
    initialize_layerwise_reload,
)


@dataclass
class FilesInit(WeightTransferInitInfo):
    """Nothing: a directory needs no connection."""


@dataclass
class FilesUpdate(WeightTransferUpdateInfo):
    """Where the new weights are."""

    directory: str
    """A model in Hugging Face's format, which every worker sees under this path."""


class FileWeightTransferEngine(WeightTransferEngine[FilesInit, FilesUpdate]):
    """Loads all weights of a model from safetensors files, layer by layer, in the form that vLLM's loaders take."""

    init_info_cls = FilesInit
    update_info_cls = FilesUpdate

    def init_transfer_engine(self, init_info: FilesInit) -> None:
        """Do nothing: a directory needs no connection."""

    def start_weight_update(self) -> None:
        """Let each layer collect its new weights before it is processed again."""
        initialize_layerwise_reload(self.model)

    def update_weights(self, update_info: dict[str, Any]) -> None:
        """Load a directory's weights; vLLM's own wait for a device fails where there is none but the processor."""
        self.receive_weights(self.parse_update_info(update_info))
        if torch.accelerator.is_available():
            torch.accelerator.synchronize()

    def receive_weights(self, update_info: FilesUpdate) -> None:
        """Hand every tensor of the directory to the model's loader."""
        self.model.load_weights(_tensors_in(Path(update_info.directory)))

    def finish_weight_update(self) -> None:
        """Process the layers' new weights as at the start of the server."""
        finalize_layerwise_reload(self.model, self.model_config)

    def shutdown(self) -> None:
        """Do nothing: there is no connection."""


def _tensors_in(directory: Path) -> Iterator[tuple[str, torch.Tensor]]:
    files = sorted(directory.glob("*.safetensors"))
    if not files:
        raise ValueError(
            f"directory: {directory} has no *.safetensors; it must be a model in Hugging Face's format"
        )
    for file in files:
        with safe_open(file, framework="pt") as tensors:
            for name in tensors.keys():  # noqa: SIM118 - it is no dict
                yield name, tensors.get_tensor(name)
