#!/usr/bin/env bash
# Makes a Python with LiteLLM's proxy, for `npm run bench -- proxy-latency`, in the directory that is named:
#
#   bash bench/peers/set-up-litellm.sh ~/.cache/retrace-litellm
#   RETRACE_LITELLM=~/.cache/retrace-litellm/bin/litellm npm run bench -- proxy-latency
#
# Python 3.10 to 3.13 with venv. Some 1 GB.
set -euo pipefail
directory=${1:?name a directory}
python3 -m venv "$directory"
"$directory/bin/python" -m pip install --quiet "litellm[proxy]==1.106.2"
"$directory/bin/litellm" --version
