"""Plugin of vLLM, which calls `register` at its start in every process: a transport of weights from files."""


def register() -> None:
    """Register the transport `retrace_files`, unless it is."""
    from vllm.distributed.weight_transfer.factory import WeightTransferEngineFactory

    if "retrace_files" not in WeightTransferEngineFactory._registry:
        WeightTransferEngineFactory.register_engine(
            "retrace_files", "retrace_vllm.weights", "FileWeightTransferEngine"
        )
