#!/usr/bin/env python3
"""clang-tidy over sources, and not again over one that it has nothing to say about.

usage: tools/clang_tidy.py [--minutes N] BUILD_FOLDER SOURCE...

With --minutes no further source is begun after so long: the ones that were changed last come first,
and how many were not looked at is said.

What a source is to clang-tidy is its text after the preprocessor, comments (NOLINT) included, its
configuration, and clang-tidy's version. A hash of these that passed once lies as an empty file in
~/.cache/pennyweight-lint, and such a source is passed over. Findings are printed; exits 1 on any.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

CLANG, TIDY = "clang++-19", "clang-tidy-19"


def preprocessed(command: dict) -> bytes:
    words = shlex.split(command["command"])
    start = next(i for i, word in enumerate(words) if word.endswith(("c++", "g++", CLANG))) + 1
    words = words[start:]
    at = words.index("-o")
    words = [w for w in words[:at] + words[at + 2:] if w not in ("-c", "-Werror")]
    run = subprocess.run([CLANG, "-E", "-C", "-P", "-w", *words], cwd=command["directory"],
                         capture_output=True, check=False)
    return run.stdout if run.returncode == 0 else b""


def last_changed_first(root: pathlib.Path, sources: list[str]) -> list[str]:
    log = subprocess.run(["git", "log", "--format=", "--name-only", "--", "src"], cwd=root,
                         capture_output=True, text=True, check=False).stdout
    place: dict[str, int] = {}
    for name in log.split("\n"):
        place.setdefault(name, len(place))
    return sorted(sources, key=lambda source: place.get(source, -1))


def main() -> int:
    words = sys.argv[1:]
    root = pathlib.Path(__file__).resolve().parent.parent
    ends = float("inf")
    if words[0] == "--minutes":
        ends = time.monotonic() + 60 * float(words[1])
        words = words[2:]
    build, sources = words[0], last_changed_first(root, words[1:])
    left_out = 0
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    cache /= "pennyweight-lint"
    cache.mkdir(parents=True, exist_ok=True)
    commands = {c["file"]: c for c in json.loads(
        pathlib.Path(build, "compile_commands.json").read_text(encoding="utf-8"))}
    same = (root / ".clang-tidy").read_bytes() + subprocess.run(
        [TIDY, "--version"], capture_output=True, check=True).stdout

    def look(source: str) -> str:
        command = commands.get(str(root / source))
        text = preprocessed(command) if command else b""
        # Its path counts, but not where the tree lies.
        key = hashlib.sha256(b"\0".join([same, source.encode(), text])).hexdigest()
        if text and (cache / key).exists():
            return ""
        if time.monotonic() > ends:
            nonlocal left_out
            left_out += 1
            return ""
        run = subprocess.run([TIDY, "-p", build, "--quiet", source], cwd=root, check=False,
                             capture_output=True, text=True)
        if run.returncode == 0:
            (cache / key).touch()
            return ""
        return run.stdout or run.stderr

    failed = False
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for said in pool.map(look, sources):
            failed = failed or said != ""
            sys.stdout.write(said)
            sys.stdout.flush()
    if left_out:
        print(f"clang-tidy: {left_out} of {len(sources)} sources were not looked at for time")
    return 1 if failed else 0


sys.exit(main())
