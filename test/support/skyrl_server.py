"""Starts SkyRL's server of the Tinker API with its engine, on a processor.

Its own program wants to be started by `uv run`, which would install packages again, and Python 3.12.

    python test/support/skyrl_server.py --base-model <directory> --backend jax --port 8000 ...
"""

import argparse
import os
import sys

if sys.version_info < (3, 12):
    # Before 3.12 pydantic reads this one only.
    import typing

    import typing_extensions

    typing.TypedDict = typing_extensions.TypedDict

ENGINE = "RETRACE_SKYRL_ENGINE"

if os.environ.get(ENGINE):
    from skyrl.tinker.engine import main

    main()
    sys.exit()

import uvicorn
from skyrl.tinker import api
from skyrl.tinker.config import EngineConfig, add_model, config_to_argv


def engine_command(_: object, config: EngineConfig) -> list[str]:
    return ["env", f"{ENGINE}=1", sys.executable, os.path.abspath(__file__), *config_to_argv(config)]


api._build_uv_run_cmd_engine = engine_command
parser = argparse.ArgumentParser()
add_model(parser, EngineConfig)
parser.add_argument("--port", type=int, required=True)
options = vars(parser.parse_args())
known = {name: value for name, value in options.items() if name in EngineConfig.model_fields}
api.app.state.engine_config = EngineConfig.model_validate(known)
uvicorn.run(api.app, host="127.0.0.1", port=options["port"], log_level="warning")
