"""Golden values of the safetensors format: files the Python library writes, and what it reads in one of Retrace's.

    pip install torch safetensors     # made with torch 2.13.0, safetensors 0.8.0
    python generate_safetensors.py       # writes safetensors.json beside itself
"""

import base64
import json
import pathlib

import torch
from safetensors import torch as st

HERE = pathlib.Path(__file__).parent


def flat(tensor):
    return [float(f"{x:.9g}") for x in tensor.flatten().tolist()]


def safetensors_golden():
    values = torch.tensor([[0.0, -1.5, 3.0e-5], [65504.0, 1 / 3, -7.0]])
    written = {
        "float32": st.save(dict(a=values, b=torch.tensor([1.0, 2.0])), metadata=dict(step="7")),
        "float16": st.save(dict(a=values.half())),
        "bfloat16": st.save(dict(a=values.bfloat16())),
        "int64": st.save(dict(a=torch.tensor([1, 2]))),
    }
    expected = dict(float32=flat(values), float16=flat(values.half().float()), bfloat16=flat(values.bfloat16().float()))
    ours = (HERE / "retrace.safetensors").read_bytes()
    read = {n: dict(shape=list(t.shape), data=flat(t)) for n, t in st.load(ours).items()}
    return dict(
        generator="test/golden/policy/generate_safetensors.py",
        files={name: base64.b64encode(data).decode() for name, data in written.items()},
        expected=expected,
        readFromRetrace=read,
    )


if __name__ == "__main__":
    (HERE / "safetensors.json").write_text(json.dumps(safetensors_golden()) + "\n")
