"""Sums as a task set of verifiers, scored by its own reward."""

import sys
from collections.abc import Iterator

import verifiers.v1 as vf

from retrace import serve_environment


class Data(vf.TaskData):
    answer: str


class Sum(vf.Task[Data]):
    @vf.reward
    async def exact(self, trace: vf.Trace) -> float:
        return float(trace.last_reply.strip() == self.data.answer)


class SumTaskset(vf.Taskset[Sum, vf.TasksetConfig]):
    def load(self) -> Iterator[Sum]:
        for number in range(200):
            yield Sum(Data(prompt=f"{number % 3} + 2?", answer=str(number % 3 + 2)))


serve_environment(SumTaskset(vf.TasksetConfig()), port=int(sys.argv[1]), actions=["2", "3", "4"])
