#!/usr/bin/env bash
# Makes a Python with agent-lightning, for `npm run bench -- ingest`, in the directory that is named:
#
#   bash bench/peers/set-up-agent-lightning.sh ~/.cache/retrace-agent-lightning
#   RETRACE_AGENT_LIGHTNING_PYTHON=~/.cache/retrace-agent-lightning/bin/python npm run bench -- ingest
#
# Python 3.11 or newer with venv: its package asks for 3.12, and its store uses nothing that 3.11 lacks.
set -euo pipefail
directory=${1:?name a directory}
python3 -m venv "$directory"
python="$directory/bin/python"
"$python" -m pip install --quiet --ignore-requires-python agentlightning==1.0.2
"$python" -c 'import importlib.metadata, agentlightning.server.app; print("agent-lightning", importlib.metadata.version("agentlightning"))'
