#!/usr/bin/env bash
# Copies what run.sh needs into one folder, which goes to a machine with a GPU: pack.sh FOLDER
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${1:?usage: pack.sh FOLDER}
mkdir -p "$target/src/retrace" "$target/tests"
cp "$here"/{run.sh,check.py,models.py,plain.py,reference.py,report.py} "$target"
cp -r "$root/clients/python/src/retrace/engine" "$target/src/retrace"
cp "$root/clients/python/tests/engine_client.py" "$target/tests"
find "$target" -name __pycache__ -prune -exec rm -rf {} +
# The worker needs none of the client's other modules.
echo '"""Only the engine."""' >"$target/src/retrace/__init__.py"
git -C "$root" rev-parse HEAD >"$target/commit"
du -sh "$target"
