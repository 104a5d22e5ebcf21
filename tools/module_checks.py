#!/usr/bin/env python3
"""Which of a build's tests come first, which are not built, and which there is time for.

usage: tools/module_checks.py recent BUILD_FOLDER    the targets of modules that changed lately
       tools/module_checks.py missing BUILD_FOLDER   the tests whose program is not there
       tools/module_checks.py built BUILD_FOLDER     those whose program is there
       tools/module_checks.py long BUILD_FOLDER S    those labelled `long` that may be run in S seconds

`.ci/run` builds the first ones first, and where its time ends before all are built, leaves out the
others by name. A test is of the module whose folder its name is ("ingest/csv", "fuzz/ingest_csv_…").
"""
import json
import pathlib
import subprocess
import sys

COMMITS = 40  # about a day of a busy team


def tests_of(build: pathlib.Path) -> dict[str, bool]:
    """Whether the program of each test is there."""
    said = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True,
                          capture_output=True, text=True).stdout
    # ctest gives no command where the program is not there; a fuzzer is what a script runs.
    commands = {test["name"]: test.get("command") for test in json.loads(said)["tests"]}
    return {name: bool(command) and
            (not name.startswith("fuzz/") or pathlib.Path(command[1]).exists())
            for name, command in commands.items()}


def long_tests(build: pathlib.Path, seconds: float) -> list[str]:
    """Those of the label `long` whose COST (seconds of one test beside others) adds up to no more
    than two processors have in that time, in the order in which they are declared."""
    said = subprocess.run(["ctest", "--test-dir", build, "-L", "^long$", "--show-only=json-v1"], check=True,
                          capture_output=True, text=True).stdout
    chosen, left = [], 2 * seconds
    for test in json.loads(said)["tests"]:
        cost = next(float(one["value"]) for one in test["properties"] if one["name"] == "COST")
        if cost <= left:
            chosen.append(test["name"])
            left -= cost
    return chosen


def changed_folders(root: pathlib.Path) -> list[str]:
    """The folders of src and testing that the last commits changed, the last first."""
    log = subprocess.run(["git", "log", f"--max-count={COMMITS}", "--format=", "--name-only", "--",
                          "src", "testing"], cwd=root, check=False, capture_output=True, text=True)
    folders = [str(pathlib.PurePath(name).parent) for name in log.stdout.split("\n") if name]
    return list(dict.fromkeys(folder.removeprefix("src/") for folder in folders))


def main() -> int:
    verb, build = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    if verb == "long":
        print("\n".join(long_tests(build, float(sys.argv[3]))))
        return 0
    tests = tests_of(build)
    if verb in ("missing", "built"):
        print("\n".join(sorted(name for name, is_there in tests.items() if is_there == (verb == "built"))))
        return 0
    for folder in changed_folders(pathlib.Path(__file__).resolve().parent.parent):
        target = folder.replace("/", "_")
        if folder in tests:
            print(f"{target}_test")
        for name in tests:
            if name.startswith(f"fuzz/{target}_"):
                print(name.removeprefix("fuzz/"))
    return 0


sys.exit(main())
