"""The spool: records wait in files until Retrace has acknowledged them, and outlive the process.

Each process appends to a file of its own, one record a line, and holds a lock on it. A file whose lock is free was left
by a process that ended: the next one takes it over and sends it first. A torn last line was never complete and is
ignored. A line that was sent but not yet acknowledged is sent again; Retrace counts it as a duplicate. Writes are not
forced to the disk: records outlive the process (kill -9), but not a power failure.
"""

import fcntl
import os
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path

from retrace.ids import uuid7

SEGMENT_BYTES = 16 * 1024**2


@dataclass(slots=True)
class _Segment:
    """A file of the spool. Bytes from `offset` to `size` wait; a file that grows has whole lines only."""

    path: Path
    descriptor: int
    size: int
    offset: int = 0

    def read(self, max_bytes: int) -> bytes:
        """Return whole waiting lines of at most `max_bytes`, or one longer line; empty when only a torn line is left."""
        length = max_bytes
        while True:
            data = os.pread(self.descriptor, min(length, self.size - self.offset), self.offset)
            end = data.rfind(b"\n") + 1
            if end > 0 or len(data) >= self.size - self.offset or not data:
                return data[:end]
            length *= 2

    def remove(self) -> None:
        # First the name and then the lock, so that nobody takes over a file that has been sent.
        with suppress(FileNotFoundError):
            self.path.unlink()
        os.close(self.descriptor)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Lines that were read from the spool, oldest first, and how many bytes of it they take."""

    lines: list[bytes]
    size_bytes: int
    in_memory: bool


class Spool:
    """A queue of lines in files, bounded by `max_bytes`; not safe for threads, its owner locks.

    Where the disk takes no more, lines wait in memory, up to `memory_max_bytes`; then they are dropped.
    """

    def __init__(
        self, directory: Path, *, max_bytes: int, memory_max_bytes: int, segment_bytes: int = SEGMENT_BYTES
    ) -> None:
        self._directory = directory
        self._max_bytes = max_bytes
        self._memory_max_bytes = memory_max_bytes
        self._segment_bytes = segment_bytes
        self._segments: deque[_Segment] = deque()
        self._current: _Segment | None = None
        self._memory: deque[bytes] = deque()
        self._memory_bytes = 0
        with suppress(OSError):
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._segments.extend(_take_over(sorted(directory.glob("py-*.ndjson"))))

    @property
    def pending_bytes(self) -> int:
        """Bytes that wait, in files and in memory."""
        return sum(segment.size - segment.offset for segment in self._segments) + self._memory_bytes

    def append(self, line: bytes) -> bool:
        """Keep a line, which ends with a newline. Return False when there is no room for it."""
        if self.pending_bytes + len(line) > self._max_bytes:
            return False
        # A line must not overtake those in memory.
        if not self._memory and self._append_to_file(line):
            return True
        if self._memory_bytes + len(line) > self._memory_max_bytes:
            return False
        self._memory.append(line)
        self._memory_bytes += len(line)
        return True

    def read(self, max_bytes: int, max_lines: int) -> Chunk:
        """Return the oldest lines, without removing them; none when nothing waits."""
        while self._segments and self._segments[0].offset < self._segments[0].size:
            segment = self._segments[0]
            data = segment.read(max_bytes)
            if data:
                lines = list(islice(BytesIO(data), max_lines))
                return Chunk(lines, sum(map(len, lines)), in_memory=False)
            self._advance(segment.size - segment.offset)
        lines, size = [], 0
        for line in self._memory:
            if lines and (size + len(line) > max_bytes or len(lines) == max_lines):
                break
            lines.append(line)
            size += len(line)
        return Chunk(lines, size, in_memory=True)

    def remove(self, chunk: Chunk) -> None:
        """Forget the lines of the chunk that was read last."""
        if not chunk.in_memory:
            self._advance(chunk.size_bytes)
            return
        for _ in chunk.lines:
            self._memory_bytes -= len(self._memory.popleft())

    def close(self) -> None:
        """Release the files; those with lines that wait stay for the next process."""
        while self._segments:
            segment = self._segments.popleft()
            if segment.offset < segment.size:
                os.close(segment.descriptor)
            else:
                segment.remove()
        self._current = None

    def abandon(self) -> None:
        """Close the files that a fork has inherited, without touching them: they belong to the parent."""
        for segment in self._segments:
            os.close(segment.descriptor)
        self._segments.clear()
        self._current = None

    def _append_to_file(self, line: bytes) -> bool:
        try:
            segment = self._current
            if segment is None or (segment.size > 0 and segment.size + len(line) > self._segment_bytes):
                segment = _create_segment(self._directory)
                self._segments.append(segment)
                self._current = segment
        except OSError:
            return False
        try:
            written = os.write(segment.descriptor, line)
        except OSError:
            written = 0
        if written == len(line):
            segment.size += written
            return True
        with suppress(OSError):
            os.ftruncate(segment.descriptor, segment.size)
        return False

    def _advance(self, size_bytes: int) -> None:
        segment = self._segments[0]
        segment.offset += size_bytes
        if segment.offset < segment.size:
            return
        if segment is self._current:
            os.ftruncate(segment.descriptor, 0)
            segment.offset = segment.size = 0
        else:
            self._segments.popleft()
            segment.remove()


def _create_segment(directory: Path) -> _Segment:
    path = directory / f"py-{uuid7()}.ndjson"
    # Locked before it has a name that others look for.
    arriving = path.with_suffix(".new")
    descriptor = os.open(arriving, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    arriving.rename(path)
    return _Segment(path, descriptor, size=0)


def _take_over(paths: Iterable[Path]) -> list[_Segment]:
    """Lock the files that no living process holds; their names sort by time."""
    segments = []
    for path in paths:
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                status = os.fstat(descriptor)
                if status.st_nlink == 0:  # Its owner has sent and removed it since we listed it.
                    raise FileNotFoundError(path)
            except OSError:
                os.close(descriptor)
                raise
            segment = _Segment(path, descriptor, size=status.st_size)
            if segment.size == 0:
                segment.remove()
            else:
                segments.append(segment)
    return segments
