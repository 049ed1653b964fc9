"""Requests that are repeated until Retrace has answered them, with the pauses that it asks for."""

import gzip
import os
import random
import threading
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime

import httpx

from retrace.errors import read_problem

FIRST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 30.0
LONGEST_RETRY_AFTER_S = 600.0
COMPRESSED_FROM_BYTES = 1024
# These may be answered otherwise later: a key that is corrected, a log that is back, a limit that has passed.
REPEATED = frozenset({401, 403, 408, 425, 429})

# A first client loads modules, and each makes a context of OpenSSL, both behind locks that a process forked meanwhile would find held
# for ever. So a fork waits until the client is made.
_making_client = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_making_client.acquire,
        after_in_parent=_making_client.release,
        after_in_child=_making_client.release,
    )


class Stopped(Exception):  # noqa: N818 - a signal to the sender, not an error
    """The client was closed before the request was answered."""


class Connection:
    """One connection to Retrace, for one thread."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        timeout_s: float,
        pause: Callable[[float], bool],
        report: Callable[[str], None],
    ) -> None:
        """Connect to `url`. `pause` waits that many seconds and returns True if it was told to stop; `report` takes each failure."""
        with _making_client:
            self._client = httpx.Client(base_url=url, headers=headers, timeout=timeout_s)
        self._pause = pause
        self._report = report

    def post(self, path: str, body: bytes, content_type: str) -> httpx.Response:
        """Return the answer once there is one: a success or a refusal. Failures and back-pressure are waited out.

        Raises Stopped when the client closes meanwhile.
        """
        headers = {"content-type": content_type}
        if len(body) >= COMPRESSED_FROM_BYTES:
            body = gzip.compress(body, compresslevel=1)
            headers["content-encoding"] = "gzip"
        attempt = 0
        while True:
            retry_after = None
            try:
                response = self._client.post(path, content=body, headers=headers)
            except httpx.HTTPError as error:
                self._report(f"{type(error).__name__}: {error}")
            else:
                if is_final(response):
                    return response
                retry_after = seconds_to_wait(response.headers.get("retry-after"))
                problem = read_problem(response)
                self._report(f"HTTP {response.status_code}" + (f": {problem.detail}" if problem else ""))
            if self._pause(pause_before(attempt, retry_after)):
                raise Stopped
            attempt += 1

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def is_final(response: httpx.Response) -> bool:
    """Tell whether the same request would be answered the same again."""
    if response.is_success or response.status_code == 413:
        return True
    if response.status_code in REPEATED or not response.is_client_error:
        return False
    # A 404 of a proxy, or of a wrong address, is no refusal of Retrace; a 400, whoever says so, is one of the request itself.
    return response.status_code == 400 or read_problem(response) is not None


def pause_before(attempt: int, retry_after_s: float | None) -> float:
    """Return the seconds to wait before attempt `attempt` + 1: what the server asked for, or longer each time; with jitter."""
    if retry_after_s is not None:
        return min(retry_after_s, LONGEST_RETRY_AFTER_S) * random.uniform(1, 1.25)
    longest: float = min(FIRST_PAUSE_S * 2 ** min(attempt, 20), LONGEST_PAUSE_S)
    return longest * random.uniform(0.5, 1)


def seconds_to_wait(header: str | None) -> float | None:
    """Read a Retry-After header: seconds or an HTTP date; None for none or another text."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None
