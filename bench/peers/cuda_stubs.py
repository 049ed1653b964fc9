"""Lets PyPI's torch, a CUDA build, be imported on a machine without CUDA and without NVIDIA's 4 GB of wheels: makes, with gcc,
shared libraries that hold nothing but the symbols that torch's own libraries ask for by name. Each answers 100,
cudaErrorNoDevice, so `torch.cuda.is_available()` is False; the CPU backend calls none of them.

    python cuda_stubs.py <site-packages>
"""

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

CUDA_LIBRARY = re.compile(r"lib(cu|nv|nccl)")
CUDA_SYMBOL = re.compile(r"(_?_?cu|nccl|nv|_Z.*(nccl|nvshmem|cudnn|cuda))")
# Takes the symbols that carry no version and so name no library.
UNVERSIONED_SYMBOLS_GO_TO = "libcudnn.so.9"


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def dynamic_links(library):
    """Names of the libraries that `library` is linked to, and the symbol versions that it wants of each."""
    needed = set(re.findall(r"NEEDED.*\[(.+?)\]", output_of("readelf", "-dW", library)))
    versions, provider = defaultdict(set), None
    for line in output_of("readelf", "-VW", library).splitlines():
        if found := re.search(r"File: (\S+)\s+Cnt", line):
            provider = found[1]
        elif "Version definition section" in line or "Version symbols section" in line:
            provider = None
        elif provider and (found := re.search(r"Name: (\S+)\s+Flags", line)):
            versions[provider].add(found[1])
    return needed, versions


def dynamic_symbols(library):
    """Symbols that `library` defines, and those that it leaves to others, with `@version` where they carry one."""
    defined, undefined = set(), set()
    for line in output_of("nm", "-D", library).splitlines():
        fields = line.split()
        if len(fields) == 3:
            defined.add(fields[2].split("@")[0])
        elif len(fields) == 2 and fields[0] == "U":
            undefined.add(fields[1])
    return defined, undefined


def compile_stub(path, symbols_by_version, versions):
    assembly, script = [".text"], []
    for version in sorted(set(symbols_by_version) | versions):
        symbols = sorted(symbols_by_version.get(version, ()))
        for symbol in symbols:
            assembly += [f".globl {symbol}", f".type {symbol},@function", f"{symbol}: mov $100,%eax", " ret"]
        if version:
            exported = f"global: {' '.join(f'{chr(34)}{symbol}{chr(34)};' for symbol in symbols)} " if symbols else ""
            script.append(f"{version} {{ {exported}}};")
    with tempfile.TemporaryDirectory() as directory:
        source, version_script = Path(directory, "stub.s"), Path(directory, "stub.map")
        source.write_text("\n".join(assembly) + '\n.section .note.GNU-stack,"",@progbits\n')
        version_script.write_text("\n".join(script) + "\n")
        command = ["gcc", "-shared", "-nostdlib", "-o", path, source, f"-Wl,-soname,{path.name}"]
        if script:
            command.append(f"-Wl,--version-script={version_script}")
        subprocess.run(command, check=True)


def main(site_packages):
    libraries = sorted(Path(site_packages, "torch", "lib").glob("*.so*"))
    present = {library.name for library in libraries}
    needed, versions, defined, undefined = set(), defaultdict(set), set(), set()
    for library in libraries:
        needs, wants = dynamic_links(library)
        needed |= needs
        for provider, names in wants.items():
            versions[provider] |= names
        here, elsewhere = dynamic_symbols(library)
        defined |= here
        undefined |= elsewhere

    stubs = sorted(name for name in needed - present if CUDA_LIBRARY.match(name))
    provider_of = {version: name for name in stubs for version in versions[name]}
    symbols = defaultdict(lambda: defaultdict(set))
    for symbol in undefined:
        name, _, version = symbol.replace("@@", "@").partition("@")
        if version in provider_of:
            symbols[provider_of[version]][version].add(name)
        elif not version and name not in defined and CUDA_SYMBOL.match(name):
            symbols[UNVERSIONED_SYMBOLS_GO_TO][""].add(name)

    # torch looks in nvidia/cu<major>/lib beside it, or in its own lib directory in builds that do not.
    major = next(found[1] for name in stubs if (found := re.match(r"libcudart\.so\.(\d+)", name)))
    beside = Path(site_packages, "nvidia", f"cu{major}", "lib")
    run_path = output_of("readelf", "-dW", Path(site_packages, "torch", "lib", "libtorch_cpu.so"))
    directory = beside if f"nvidia/cu{major}" in run_path else Path(site_packages, "torch", "lib")
    directory.mkdir(parents=True, exist_ok=True)
    for name in stubs:
        compile_stub(directory / name, symbols[name], versions[name])
        print(f"{name}: {sum(map(len, symbols[name].values()))} symbols")


if __name__ == "__main__":
    main(sys.argv[1])
