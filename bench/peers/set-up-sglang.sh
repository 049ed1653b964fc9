#!/usr/bin/env bash
# Makes a Python with SGLang for the CPU, for `npm run test:long -- sglang`, in the directory that is named:
#
#   bash bench/peers/set-up-sglang.sh ~/.cache/retrace-sglang
#
# Python 3.10 to 3.13 with venv; gcc and binutils. Some 3 GB. torch goes without NVIDIA's wheels (cuda_stubs.py), and SGLang without the
# packages that only its GPU side needs. PyPI has no wheel of SGLang's kernels for processors, so the server must compute with torch's own:
# SGLANG_USE_CPU_ENGINE=1, --device cpu --attention-backend torch_native --sampling-backend pytorch --grammar-backend none.
set -euo pipefail
directory=${1:?name a directory}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python3 -m venv "$directory"
python="$directory/bin/python"
"$python" -m pip install --quiet --no-deps torch==2.13.0 torchvision==0.28.0 triton==3.9.0 sglang==0.5.23
site_packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
"$python" "$here/cuda_stubs.py" "$site_packages"
sed -i -E '/^Requires-Dist: (cuda-|nvidia-|triton)/d' "$site_packages"/torch-*.dist-info/METADATA
# What SGLang imports at its start on a processor. Its pins of torch and of packages for GPUs are not met.
"$python" -m pip install --quiet \
  aiohttp anthropic apache-tvm-ffi==0.1.11 blobfile==3.0.0 compressed-tensors==0.18.0 datasets distro easydict einops fastapi filelock fsspec \
  gguf interegular IPython jinja2 llguidance mistral_common msgspec networkx ninja numba==0.65.1 numpy nvidia-ml-py openai==2.8.0 \
  openai-harmony==0.0.4 orjson outlines==0.1.11 packaging partial_json_parser pillow prometheus-client psutil pybase64 pydantic \
  'python-dateutil<3' python-multipart pyzmq regex requests scipy sentencepiece==0.2.1 setproctitle setuptools soundfile==0.13.1 sympy tiktoken \
  tokenizers==0.23.2 tqdm transformers==5.19.0 typing_extensions uvicorn uvloop watchfiles xgrammar==0.2.7 xxhash zstandard
# Some modules import kernels by name that the chosen backends never call.
mkdir -p "$site_packages/sgl_kernel"
cp "$here/sgl_kernel_names.py" "$site_packages/sgl_kernel/__init__.py"
SGLANG_USE_CPU_ENGINE=1 "$python" -c 'import sglang, sglang.srt.managers.scheduler; print("SGLang", sglang.__version__)'
