#!/usr/bin/env python3
"""The software bill of materials of a build of pennyweight, as CycloneDX 1.5 (JSON).

usage: sbom.py PROGRAM [--build FOLDER] [--out FILE]

It names what the program consists of, by evidence rather than by a list that somebody keeps:

  - the Debian package of each shared library that the program loads, found by readelf and ldd, and
    which of them needs which;
  - with --build, a ninja build folder: the Debian package of each header that was compiled into the
    program (Boost, simdjson and others have no library, or not all of it);
  - DuckDB and what the pages are bundled from, with the versions and hashes of package-lock.json.

The same build gives the same bytes. An error (exit 1) names a file that no package owns.
"""
import argparse
import base64
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[1]
# The C library's own loader and the kernel's page have no package to look up by name.
NO_FILE = {"linux-vdso.so.1"}


def output(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=True, **more).stdout


@functools.cache
def owners():
    """The Debian package of each file that packages list; thousands are asked for, so all at once."""
    found = {}
    for file in pathlib.Path("/var/lib/dpkg/info").glob("*.list"):
        package = file.stem.split(":")[0]
        found.update((name, package) for name in file.read_text().splitlines())
    return found


def package_of(path):
    """The Debian package that owns a file; None: none does."""
    path = os.path.realpath(path)
    # With /usr merged, packages may list their files under either name.
    return next((owners()[name] for name in (path, path.removeprefix("/usr"), "/usr" + path)
                 if name in owners()), None)


@functools.cache
def licences_of(package):
    """The short names in the package's machine-readable copyright file; [] if it has none."""
    path = pathlib.Path(f"/usr/share/doc/{package}/copyright")
    if not path.exists():
        return []
    text = path.read_text(errors="replace")
    if not text.startswith("Format:"):
        return []
    return sorted(set(re.findall(r"^License:[ \t]*(\S.*)$", text, re.M)))


def debian_component(package):
    about = output("dpkg-query", "-W", "-f",
                   "${Version}\n${Architecture}\n${source:Package}\n${source:Version}\n${Homepage}", package)
    version, arch, source, source_version, homepage = about.split("\n")
    component = {
        "type": "library",
        "bom-ref": f"pkg:deb/debian/{package}@{version}?arch={arch}",
        "name": package,
        "version": version,
        "purl": f"pkg:deb/debian/{package}@{version}?arch={arch}&upstream={source}%40{source_version}",
    }
    if licences := licences_of(package):
        component["licenses"] = [{"license": {"name": name}} for name in licences]
    if homepage:
        component["externalReferences"] = [{"type": "website", "url": homepage}]
    return component


def npm_component(name, entry):
    algorithm, digest = entry["integrity"].split("-", 1)
    reference = f"pkg:npm/{name.replace('@', '%40')}@{entry['version']}"
    return {
        "type": "library",
        "bom-ref": reference,
        "name": name,
        "version": entry["version"],
        "purl": reference,
        "hashes": [{"alg": algorithm.upper().replace("SHA", "SHA-"),
                    "content": base64.b64decode(digest).hex()}],
        "licenses": [{"license": {"id": entry["license"]}}],
    }


def needed_by(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", path))


def loaded_by(program):
    """name: path of each shared library that the loader maps."""
    found = {}
    for line in output("ldd", program).splitlines():
        words = line.split()
        if words[0] in NO_FILE:
            continue
        path = words[2] if "=>" in words else words[0]
        if path == "not":
            sys.exit(f"sbom: {program} needs {words[0]}, which is not installed")
        found[os.path.basename(words[0])] = path
    return found


def bundled_packages(lock):
    """What the pages consist of: the dependencies that web/ imports, and theirs."""
    imported = set()
    for file in (ROOT / "web" / "src").rglob("*.ts*"):
        for name in re.findall(r"""from ["']([@a-z][^"']*)["']""", file.read_text()):
            imported.add("/".join(name.split("/")[: 2 if name.startswith("@") else 1]))
    names, waiting = [], sorted(name for name in imported if f"node_modules/{name}" in lock)
    while waiting:
        name = waiting.pop(0)
        if name in names:
            continue
        names.append(name)
        waiting += sorted(lock[f"node_modules/{name}"].get("dependencies", {}))
    return names


def headers_of(folder):
    """Files of the system that the sources of the program, and not its tests, were compiled from."""
    wanted = False
    headers = set()
    for line in output("ninja", "-C", str(folder), "-t", "deps").splitlines():
        if not line.startswith(" "):
            target = line.split(":")[0]
            wanted = "/src/" in f"/{target}" and not re.search(r"_test\.(dir|cc)|_fuzz|/testing/", target)
        elif wanted and line.strip().startswith("/usr/include/"):
            headers.add(os.path.realpath(line.strip()))
    return headers


def bill(program, folder):
    version = re.search(r"\d\S*", output(program, "--version")).group()
    lock = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    ours = f"pkg:generic/pennyweight@{version}"
    components, depends = {}, {ours: set()}

    def add(component):
        components.setdefault(component["bom-ref"], component)
        depends.setdefault(component["bom-ref"], set())
        return component["bom-ref"]

    loaded = loaded_by(program)
    references = {}
    for name, path in sorted(loaded.items()):
        real = os.path.realpath(path)
        if "node_modules" in real:
            package = real.split("node_modules/")[-1].rsplit("/", 1)[0]
            references[name] = add(npm_component(package, lock[f"node_modules/{package}"]))
        elif package := package_of(path):
            references[name] = add(debian_component(package))
        else:
            sys.exit(f"sbom: no Debian package owns {real}, which {program} loads")
    for name in needed_by(program):
        depends[ours].add(references[name])
    for name, path in loaded.items():
        for other in needed_by(path):
            if other in references and references[other] != references[name]:
                depends[references[name]].add(references[other])
    compiled_in = set()
    for header in sorted(headers_of(folder)) if folder else []:
        package = package_of(header)
        if package is None:
            sys.exit(f"sbom: no Debian package owns {header}, which is compiled in")
        compiled_in.add(package)
    for package in sorted(compiled_in):
        depends[ours].add(add(debian_component(package)))
    bundled = bundled_packages(lock)
    for name in bundled:
        reference = add(npm_component(name, lock[f"node_modules/{name}"]))
        depends[ours].add(reference)
        for other in lock[f"node_modules/{name}"].get("dependencies", {}):
            depends[reference].add(npm_component(other, lock[f"node_modules/{other}"])["bom-ref"])
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": ours, "name": "pennyweight",
                                   "version": version, "purl": ours,
                                   "licenses": [{"license": {"id": "Apache-2.0"}}]}},
        "components": sorted(components.values(), key=lambda one: one["bom-ref"]),
        "dependencies": [{"ref": reference, "dependsOn": sorted(others)}
                         for reference, others in sorted(depends.items())],
    }
    # A serial number that is the same for the same content.
    content = json.dumps(document, sort_keys=True)
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}"
    return document


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--build", help="the ninja build folder that the program was built in")
    parser.add_argument("--out", help="the file; by default standard output")
    options = parser.parse_args()
    text = json.dumps(bill(options.program, options.build), indent=2, ensure_ascii=False) + "\n"
    if options.out:
        pathlib.Path(options.out).write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
