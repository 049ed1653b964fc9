"""Makes libraries that stand in for CUDA's, so that the torch wheel of PyPI runs on a processor without 3 GB of them.

usage: cuda-stubs.py SITE-PACKAGES (needs gcc and binutils). Every function returns 100, "no CUDA-capable device is detected", so torch sees
no GPU and never calls another one.
"""

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

NO_DEVICE = 100
CUDA = re.compile(r"lib(cu|nv|nccl)")
CUDA_SYMBOL = re.compile(r"_*(cu|nv|nccl|_Z.*(cuda|cudnn|nccl|nvshmem))")


def output_of(*command: str) -> str:
    """Run a program."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def needed_libraries(libraries: list[Path]) -> set[str]:
    """The CUDA libraries that are named but not there."""
    there = {path.name for path in libraries}
    named = set()
    for path in libraries:
        named |= set(re.findall(r"\(NEEDED\).*\[(.+)\]", output_of("readelf", "--dynamic", "--wide", str(path))))
    return {name for name in named - there if CUDA.match(name)}


def library_of_versions(libraries: list[Path], needed: set[str]) -> dict[str, str]:
    """Which library each version of symbols comes from."""
    found: dict[str, str] = {}
    for path in libraries:
        library = ""
        for line in output_of("readelf", "--version-info", "--wide", str(path)).splitlines():
            if file := re.search(r"File: (\S+)", line):
                library = file[1]
            elif (name := re.search(r"Name: (\S+)\s+Flags", line)) and library in needed:
                found[name[1]] = library
    return found


def missing_symbols(libraries: list[Path]) -> set[str]:
    """Symbols that some library uses and none defines, each with its version behind an @ if it has one."""
    undefined, defined = set(), set()
    for path in libraries:
        for line in output_of("nm", "--dynamic", str(path)).splitlines():
            *_, kind, symbol = line.split()
            if kind == "U":
                undefined.add(symbol.replace("@@", "@"))
            elif kind not in "wv":
                defined.add(symbol.split("@")[0])
    return {symbol for symbol in undefined if symbol.split("@")[0] not in defined}


def build(target: Path, symbols: dict[str, list[str]]) -> None:
    """Compile a library that has these symbols, by version; the version "" is none."""
    with tempfile.TemporaryDirectory() as name:
        source, script = Path(name) / "stub.c", Path(name) / "versions"
        lines, versions = [], []
        for version, names in symbols.items():
            start = len(lines)
            for i, symbol in enumerate(sorted(names), start):
                lines.append(f'int f{i}(void) __asm__("{symbol}"); int f{i}(void) {{ return {NO_DEVICE}; }}')
            if version:
                listed = "".join(f'"{symbol}"; ' for symbol in sorted(names))
                versions.append(f"{version} {{ {'global: ' + listed if names else ''}}};")
        source.write_text("\n".join(lines))
        script.write_text("\n".join(versions))
        options = [f"-Wl,--version-script={script}"] if versions else []
        command = ["gcc", "-shared", "-fPIC", "-nostdlib", "-w", f"-Wl,-soname,{target.name}", *options]
        subprocess.run([*command, "-o", str(target), str(source)], check=True)


def main(site_packages: Path) -> None:
    """Write each missing library beside torch's own, where these look for it."""
    folder = site_packages / "torch" / "lib"
    libraries = [path for path in folder.glob("*.so*") if path.is_file()]
    needed = needed_libraries(libraries)
    library_of = library_of_versions(libraries, needed)
    contents: dict[str, dict[str, list[str]]] = {name: defaultdict(list) for name in needed}
    for version, library in library_of.items():
        contents[library][version] = []
    for symbol in missing_symbols(libraries):
        name, _, version = symbol.partition("@")
        if version in library_of:
            contents[library_of[version]][version].append(name)
        elif not version and CUDA_SYMBOL.match(name) and needed:
            # Nothing says whose it is, and the loader takes it from any.
            contents[min(needed)][""].append(name)
    for library, symbols in contents.items():
        build(folder / library, symbols)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
