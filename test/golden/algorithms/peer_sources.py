"""Imports single modules of packages whose trainers need far more than is installed here, or that no registry has.

A package that is only on GitHub is read from a checkout below the directory that RETRACE_PEER_SOURCES names; `COMMITS` says which commit."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types
from pathlib import Path

# Directory below RETRACE_PEER_SOURCES → GitHub repository and commit.
COMMITS = {
    "verl-agent": ("langfengQ/verl-agent (fork vanzll/verl-agent)", "d0b97244c50f17fb43a6ef0a15bca0e95a044ff7"),
    "RAGEN": ("RAGEN-AI/RAGEN", "5eb79b82cecc31db5662ba3c96b752405692410b"),
    "slime": ("THUDM/slime", "624b824a898ab0ec1fcb4d373004c7f3852bf515"),
    "maxrl": ("tajwarfahim/maxrl", "c0698ebb439a81ae1c6b01a842df3f2541816b4d"),
    "SkyRL": ("NovaSky-AI/SkyRL", "a9564572eb8e91076be43c1bd5e4615e3de17265"),
    "ROLL": ("alibaba/ROLL", "8eb27cc2dc34c4d1310b169d9b86d339004d811a"),
    "spiral": ("spiral-rl/spiral", "a02d0ed8d11c57e0ee4a4096e9881866d69a052b"),
}
# Loaded by the trainers around a function, never by the function.
UNUSED = {"d3rlpy", "gymnasium", "gym", "swanlab", "trackio", "einops", "textarena", "tree", "roll"}
# Their __init__ would load a whole trainer.
WITHOUT_INIT = ["scope_rl", "scope_rl.ope", "scope_rl.ope.discrete", "areal.trainer", "areal.trainer.ppo"]


class _Unused(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """An empty module for each name in UNUSED that isn't installed."""

    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.split(".")[0] in UNUSED else None

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__path__ = []
        module.__getattr__ = lambda name: type(name, (), {})
        return module

    def exec_module(self, module):
        pass


def installed(name):
    """A module of an installed package, without the __init__ of the packages around it."""
    if not any(isinstance(finder, _Unused) for finder in sys.meta_path):
        sys.meta_path.append(_Unused())
        site_packages = Path(importlib.util.find_spec("torch").origin).parent.parent
        for package in WITHOUT_INIT:
            sys.modules[package] = module = types.ModuleType(package)
            module.__path__ = [str(site_packages / package.replace(".", "/"))]
    return importlib.import_module(name)


def checkout_packages(project, *packages):
    """Makes packages of a checkout importable, without their __init__."""
    for package in packages:
        sys.modules[package] = module = types.ModuleType(package)
        module.__path__ = [str(Path(os.environ["RETRACE_PEER_SOURCES"]) / project / package.replace(".", "/"))]


def checked_out(project, path, **names):
    """A single file of a checkout, as a module. `names` are those that it takes from the version of verl that it was written for."""
    installed("torch")
    root = Path(os.environ["RETRACE_PEER_SOURCES"]) / project
    spec = importlib.util.spec_from_file_location(f"peer_{project.replace('-', '_')}", root / path)
    module = importlib.util.module_from_spec(spec)
    vars(module).update(names)
    spec.loader.exec_module(module)
    return module
