import os
import resource
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from retrace.spool import Spool

ROOM = 1 << 20


def spool_in(directory: Path, *, max_bytes: int = ROOM, memory: int = ROOM, segment: int = 1 << 24) -> Spool:
    return Spool(directory, max_bytes=max_bytes, memory_max_bytes=memory, segment_bytes=segment)


def drain(spool: Spool, max_bytes: int = 1 << 20, max_lines: int = 100) -> list[bytes]:
    lines: list[bytes] = []
    while chunk := spool.read(max_bytes, max_lines).lines:
        lines += chunk
        spool.remove(spool.read(max_bytes, max_lines))
    return lines


def test_lines_come_back_in_order_over_many_files_and_none_is_left(tmp_path: Path) -> None:
    spool = spool_in(tmp_path, segment=100)
    lines = [b'{"n":%d}\n' % number for number in range(200)]
    assert all(spool.append(line) for line in lines)
    assert len(list(tmp_path.iterdir())) > 10
    assert drain(spool, max_bytes=64, max_lines=3) == lines
    assert spool.pending_bytes == 0
    spool.close()
    assert list(tmp_path.iterdir()) == []


def test_a_line_longer_than_a_read_is_read_whole(tmp_path: Path) -> None:
    spool = spool_in(tmp_path)
    long = b"x" * 1000 + b"\n"
    spool.append(long)
    spool.append(b"y\n")
    assert drain(spool, max_bytes=16) == [long, b"y\n"]


def test_a_full_spool_takes_nothing_more_until_lines_are_removed(tmp_path: Path) -> None:
    spool = spool_in(tmp_path, max_bytes=10)
    assert spool.append(b"12345678\n")
    assert not spool.append(b"9\n")
    spool.remove(spool.read(100, 100))
    assert spool.append(b"9\n")


def test_lines_of_a_killed_process_are_taken_over_once_and_its_torn_last_line_is_ignored(
    tmp_path: Path,
) -> None:
    program = textwrap.dedent("""
        import os, signal, sys
        from pathlib import Path
        from retrace.spool import Spool
        spool = Spool(Path(sys.argv[1]), max_bytes=1000, memory_max_bytes=0)
        spool.append(b"one\\n"); spool.append(b"two\\n")
        os.write(spool._current.descriptor, b"thr")
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    killed = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    first, second = spool_in(tmp_path), spool_in(tmp_path)
    first.append(b"four\n")
    assert drain(second) == []
    assert drain(first) == [b"one\n", b"two\n", b"four\n"]


def test_lines_of_a_living_process_are_not_taken_over(tmp_path: Path) -> None:
    living = spool_in(tmp_path)
    living.append(b"mine\n")
    assert drain(spool_in(tmp_path)) == []
    living.close()
    assert drain(spool_in(tmp_path)) == [b"mine\n"]


def test_files_of_other_programs_in_the_directory_are_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "0123456789ab-000000.ndjson"
    other.write_bytes(b"{}\n")
    assert drain(spool_in(tmp_path)) == []
    assert other.read_bytes() == b"{}\n"


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """Make the kernel refuse writes beyond `size`, as a full disk does."""
    previous = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, previous[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, previous)
        signal.signal(signal.SIGXFSZ, handler)


def test_lines_wait_in_memory_while_the_disk_takes_none_and_keep_their_order(tmp_path: Path) -> None:
    spool = spool_in(tmp_path, memory=12)
    with file_size_limit(10):
        assert spool.append(b"11111\n")
        assert spool.append(b"22222\n")  # Four of its bytes fit on the disk.
    assert spool.append(b"33333\n")
    assert not spool.append(b"44444\n")
    assert os.path.getsize(next(tmp_path.glob("py-*"))) == 6
    assert drain(spool) == [b"11111\n", b"22222\n", b"33333\n"]
    assert spool.append(b"55555\n")
    assert os.path.getsize(next(tmp_path.glob("py-*"))) == 6


def test_a_directory_that_can_not_be_made_leaves_the_lines_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    spool = spool_in(tmp_path / "file" / "spool")
    assert spool.append(b"a\n")
    assert drain(spool) == [b"a\n"]
