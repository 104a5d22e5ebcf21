"""The software bill of materials that tools/sbom.py writes: it names every library that the program loads
and everything from npm that is built in, with the versions that are installed and locked.

usage: test_sbom.py ROOT PROGRAM BUILD_FOLDER
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT, PROGRAM, BUILD = sys.argv[1:4]
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


def make(program):
    return subprocess.run([sys.executable, ROOT + "/tools/sbom.py", program, "--build", BUILD],
                          capture_output=True, text=True)


if not shutil.which("dpkg-query"):
    print("skipped: this is not Debian")
    sys.exit(77)
done = make(PROGRAM)
expect(done.returncode == 0, f"sbom.py ends with {done.returncode}: {done.stderr}")
bill = json.loads(done.stdout)
expect(make(PROGRAM).stdout == done.stdout, "the same build gives the same bytes")

# What CycloneDX 1.5 asks for.
expect(bill["bomFormat"] == "CycloneDX" and bill["specVersion"] == "1.5" and bill["version"] == 1, "the format")
expect(re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bill["serialNumber"]), "the serial number")
ours = bill["metadata"]["component"]
version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
expect(ours["type"] == "application" and ours["version"] in version, f"it is about this program: {ours}")
references = [one["bom-ref"] for one in bill["components"]]
expect(len(set(references)) == len(references), "each component is named once")
for one in bill["components"]:
    expect(one["type"] == "library" and one["name"] and one["version"], f"{one} has a name and a version")
    expect(re.fullmatch(r"pkg:(deb/debian|npm)/\S+@\S+", one["purl"]), f"{one['purl']} is a package URL")
    for digest in one.get("hashes", []):
        expect(digest["alg"] == "SHA-512" and re.fullmatch(r"[0-9a-f]{128}", digest["content"]), f"{digest}")
for edge in bill["dependencies"]:
    for name in [edge["ref"], *edge["dependsOn"]]:
        expect(name in references or name == ours["bom-ref"], f"{name} is not among the components")

# Each library that the program names is the file of a package that the bill names.
named = {one["name"]: one["version"] for one in bill["components"]}
dynamic = subprocess.run(["readelf", "-dW", PROGRAM], capture_output=True, text=True, check=True).stdout
loaded = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True, check=True).stdout
for library in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
    path = re.search(rf"{re.escape(library)} => (\S+)", loaded)
    if not path or "node_modules" in path[1]:
        continue
    for name in (path[1], "/usr" + path[1]):
        owner = subprocess.run(["dpkg-query", "-S", str(pathlib.Path(name).resolve())], capture_output=True, text=True)
        owner = owner if owner.returncode == 0 else subprocess.run(
            ["dpkg-query", "-S", name], capture_output=True, text=True)
        if owner.returncode == 0:
            break
    package = owner.stdout.split(":")[0]
    installed = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True).stdout
    expect(package and named.get(package) == installed, f"{library} of {package} {installed}: {named.get(package)}")
for name in ("libssl3", "libsqlite3-0", "libboost1.74-dev", "preact", "chart.js"):
    expect(name in named, f"{name} is in the bill")
expect(any(name.startswith("@duckdb/node-bindings-linux-") for name in named), "DuckDB is in the bill")
lock = json.loads((pathlib.Path(ROOT) / "package-lock.json").read_text())["packages"]
for one in bill["components"]:
    if one["purl"].startswith("pkg:npm/"):
        expect(one["version"] == lock[f"node_modules/{one['name']}"]["version"], f"{one['name']} as it is locked")
tests = {"libgtest-dev", "libgmock-dev", "librapidcheck-dev", "libcpp-httplib-dev", "typescript", "esbuild"}
expect(not tests & set(named), f"what only tests or builds need is not part of it: {tests & set(named)}")
expect(make("/bin/nothing").returncode != 0, "without a program there is no bill")
print(f"sbom: {len(references)} components, {'ok' if not failures else f'{len(failures)} failed'}")
sys.exit(bool(failures))
