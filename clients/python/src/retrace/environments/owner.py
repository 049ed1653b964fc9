"""Ends a server together with the process that started it, also when that one is killed and can tell nobody."""

import os
import signal
import threading
import time
from collections.abc import Callable

# Retrace sets it for the servers that it starts: the process id of the owner.
OWNER_VARIABLE = "RETRACE_SERVER_OWNER"
_POLL_S = 0.5
_GRACE_S = 5.0


def end_with_owner() -> None:
    """Watch the owner, where there is one, from a thread: then a busy event loop doesn't matter. After it: SIGTERM, 5 s later the end."""
    owner = os.environ.get(OWNER_VARIABLE, "")
    if not owner.isdecimal():
        return
    has_ended = _watch(int(owner))

    def wait() -> None:
        while not has_ended():
            time.sleep(_POLL_S)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_GRACE_S)
        os._exit(1)

    threading.Thread(target=wait, name="retrace-owner", daemon=True).start()


def _watch(owner: int) -> Callable[[], bool]:
    """Return whether the owner has ended. A child sees that by its new parent, even of a parent that nobody has waited for yet."""
    if os.getppid() == owner:
        return lambda: os.getppid() != owner

    def has_ended() -> bool:
        try:
            os.kill(owner, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return False

    return has_ended
