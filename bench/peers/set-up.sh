#!/usr/bin/env bash
# Makes a Python with verl, TRL and torch, for the benches `algorithms` and `seconds-to-success`, in the directory that is named:
#
#   bash bench/peers/set-up.sh ~/.cache/retrace-peers
#   RETRACE_PEER_PYTHON=~/.cache/retrace-peers/bin/python npm run bench -- algorithms
#
# Python 3.10 to 3.13 with venv; gcc and binutils. Some 3 GB: torch goes without NVIDIA's wheels, as only its CPU side is measured
# (cuda_stubs.py), and verl without the packages that only its trainers need.
set -euo pipefail
directory=${1:?name a directory}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python3 -m venv "$directory"
python="$directory/bin/python"
"$python" -m pip install --quiet --no-deps torch==2.13.0
site_packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
"$python" "$here/cuda_stubs.py" "$site_packages"
# pip would call every later installation incomplete.
sed -i -E '/^Requires-Dist: (cuda-|nvidia-|triton)/d' "$site_packages"/torch-*.dist-info/METADATA
"$python" -m pip install --quiet numpy filelock typing_extensions sympy networkx jinja2 fsspec setuptools ray tensordict \
  omegaconf hydra-core codetiming pandas pyarrow orjson transformers
"$python" -m pip install --quiet --no-deps verl==0.9.1
# For the goldens of TRL and its GRPOTrainer; what its other trainers need stays out.
"$python" -m pip install --quiet --no-deps trl==1.16.0 accelerate datasets psutil multiprocess dill xxhash httpx
"$python" -c 'import torch; from verl.trainer.ppo import core_algos; print("verl on torch", torch.__version__)'
