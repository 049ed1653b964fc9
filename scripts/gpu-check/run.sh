#!/usr/bin/env bash
# Checks the torch engine on this machine: run.sh [PART …]; figures and log go to $OUT (default: ./gpu-check-out).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# Where it was packed, the worker is beside it; else it is in the repository.
client=$here
[ -d "$here/src" ] || client=$here/../../clients/python
export OUT=${OUT:-$PWD/gpu-check-out} PYTHONUNBUFFERED=1
export PYTHONPATH="$client/src:$client/tests${PYTHONPATH:+:$PYTHONPATH}"
mkdir -p "$OUT"
set -o pipefail
"${PYTHON:-python3}" "$here/check.py" --out "$OUT" "$@" 2>&1 | tee "$OUT/gpu-check.log"
