"""Which episodes are stored otherwise than they were recorded."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

_MAX_REMEMBERED = 100
_MAX_REASONS = 10


@dataclass(frozen=True, slots=True)
class DamagedEpisode:
    """An episode that is stored otherwise than it was recorded."""

    run: str
    episode: str
    outcome: Literal["poorer", "broken off"]
    """`poorer`: a part of a record is missing, but no record. `broken off`: records are missing."""
    reasons: tuple[str, ...]
    """Each change or loss once, in words."""


class DamagedEpisodes:
    """The episodes that were damaged, of which the newest are remembered by name. Not safe for threads."""

    def __init__(self) -> None:
        self.poorer = 0
        self.broken_off = 0
        self._newest: dict[tuple[str, str], DamagedEpisode] = {}

    @property
    def newest(self) -> tuple[DamagedEpisode, ...]:
        """The newest damaged episodes, oldest first."""
        return tuple(self._newest.values())

    def note(self, run: str, episode: str, reasons: Iterable[str], *, broken_off: bool) -> None:
        """Note that an episode is poorer, or was broken off."""
        known = self._newest.pop((run, episode), None)
        was_broken = known is not None and known.outcome == "broken off"
        if known is None or (broken_off and not was_broken):
            self.poorer -= known is not None
            self.broken_off += broken_off
            self.poorer += not broken_off
        outcome: Literal["poorer", "broken off"] = "broken off" if broken_off or was_broken else "poorer"
        all_reasons = dict.fromkeys([*(known.reasons if known else ()), *reasons])
        kept = tuple(all_reasons)[:_MAX_REASONS]
        self._newest[run, episode] = DamagedEpisode(run, episode, outcome, kept)
        if len(self._newest) > _MAX_REMEMBERED:
            del self._newest[next(iter(self._newest))]


def is_broken_without(kind: object) -> bool:
    """Tell whether an episode is broken off without a record of this type: rewards and annotations are in no order."""
    return kind in ("episode", "step", "end")
