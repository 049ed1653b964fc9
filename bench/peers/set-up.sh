#!/usr/bin/env bash
# Makes a Python with verl and torch in the directory that is named, for `npm run bench -- advantages`:
#
#   bash bench/peers/set-up.sh /some/directory
#   RETRACE_PEER_PYTHON=/some/directory/bin/python npm run bench -- advantages
#
# Some 5 GB, as torch's wheel comes with CUDA. verl goes without its dependencies: only its core_algos is imported.
set -euo pipefail
directory=${1:?name a directory}
python3 -m venv "$directory"
"$directory/bin/pip" install --quiet torch==2.13.0
"$directory/bin/pip" install --quiet --no-deps verl==0.9.1
"$directory/bin/pip" install --quiet numpy filelock typing_extensions sympy networkx jinja2 fsspec ray tensordict omegaconf \
  hydra-core codetiming pandas pyarrow orjson transformers
