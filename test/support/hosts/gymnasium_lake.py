"""FrozenLake of Gymnasium, hosted in the lines that the documentation shows."""

import sys

import gymnasium

from retrace import serve_environment

serve_environment(lambda: gymnasium.make("FrozenLake-v1"), port=int(sys.argv[1]))
