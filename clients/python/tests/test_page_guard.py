import json
from pathlib import Path
from typing import Any

import pytest

from retrace.environments.page_guard import PageGuard

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "page-guard.json").read_text())


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_page_guard_decides_as_the_servers_of_every_language(vector: dict[str, Any]) -> None:
    server, request = vector["server"], vector["request"]
    guard = PageGuard(server["host"], server["allowedHosts"])
    refusal = guard.refusal(request["target"], [(name, value) for name, value in request["headers"]])
    assert (refusal and refusal.code) == vector["refusal"]


def test_page_guard_takes_no_port_of_a_name_that_was_added() -> None:
    guard = PageGuard("127.0.0.1", ["a.example:8788", "fd00::5"])
    for host in ("a.example", "a.example:1", "[fd00::5]:8788"):
        assert guard.refusal("/ws", [("Host", host)]) is None
