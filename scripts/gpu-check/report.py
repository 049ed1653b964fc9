"""The figures of a GPU check as docs/results has them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def render(found: dict[str, Any]) -> str:
    """Front matter, and a table of the figures with their limits."""
    front = {
        "command": "bash scripts/gpu-check/run.sh",
        "passed": json.dumps(not found["failed"]),
        "commit": found["commit"][:12],
        "date": f"'{found['date']}'",
        "seconds": found["seconds"],
        "python": found["python"],
        "torch": found["torch"],
        "cores": found["cores"],
        "device": found["device"],
    }
    rows = [["figure", "value", "unit", "aim"], ["---", "---:", "---", "---"]]
    for figure in found["figures"]:
        limit = figure.get("atMost")
        met = limit is not None and figure["value"] <= limit
        aim = "" if limit is None else f"≤ {limit:g}, {'met' if met else 'missed'}"
        rows.append([figure["name"], number(figure["value"]), figure["unit"], aim])
    lines = [
        "---",
        *(f"{key}: {value}" for key, value in front.items()),
        "---",
        "",
        f"# {found['title']}",
        "",
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
    ]
    return "\n".join(lines)


def number(value: float) -> str:
    """Four digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


if __name__ == "__main__":
    print(render(json.loads(Path(sys.argv[1]).read_text())), end="")
