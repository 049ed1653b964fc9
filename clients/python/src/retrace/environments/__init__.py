"""Hosts environments of Python, so that Retrace plays them over HTTP and WebSocket (docs/environments.md)."""

from retrace.environments.hosted import HostedEnvironment, HostedEpisode, InvalidTaskError, Result
from retrace.environments.serve import EnvironmentServer, serve_environment, serve_environment_async

__all__ = [
    "EnvironmentServer",
    "HostedEnvironment",
    "HostedEpisode",
    "InvalidTaskError",
    "Result",
    "serve_environment",
    "serve_environment_async",
]
