"""Reads the event files below a log directory with TensorBoard's own EventAccumulator; prints them as JSON."""

import json
import os
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_multiplexer import EventMultiplexer

multiplexer = EventMultiplexer().AddRunsFromDirectory(sys.argv[1])
multiplexer.Reload()
runs = {}
for name, tags in multiplexer.Runs().items():
    accumulator = EventAccumulator(os.path.join(sys.argv[1], name))
    accumulator.Reload()
    assert accumulator.Tags()["scalars"] == tags["scalars"]
    runs[name] = {
        tag: [[event.step, event.wall_time, event.value] for event in accumulator.Scalars(tag)]
        for tag in accumulator.Tags()["scalars"]
    }
print(json.dumps(runs))
