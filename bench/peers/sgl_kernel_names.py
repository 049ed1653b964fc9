"""Takes the place of SGLang's kernels, whose wheel for processors is not on PyPI: every name can be imported, and none can be called."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)

    def missing(*_args, **_kwargs):
        raise NotImplementedError(f"sgl_kernel.{name} is not installed")

    return missing
