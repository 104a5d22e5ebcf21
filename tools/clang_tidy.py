#!/usr/bin/env python3
"""Runs clang-tidy over sources, and skips those that have already passed.

usage: tools/clang_tidy.py [--minutes N] BUILD_FOLDER SOURCE...

With --minutes it starts no further source after that time, takes those changed last first, and
reports how many it left out.

What clang-tidy finds depends on the source's text after the preprocessor, with its comments (NOLINT),
on the configuration and on clang-tidy's version. When these have passed once, their hash is kept as
the name of an empty file in ~/.cache/pennyweight-lint, and the source is skipped from then on.
Findings are printed; any finding exits 1.
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
        nonlocal left_out
        # Before the preprocessor, which takes half a second a source: most of CI's time, once.
        if time.monotonic() > ends:
            left_out += 1
            return ""
        command = commands.get(str(root / source))
        text = preprocessed(command) if command else b""
        # The path within the tree counts, but not where the tree is.
        key = hashlib.sha256(b"\0".join([same, source.encode(), text])).hexdigest()
        if text and (cache / key).exists():
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
        print(f"clang-tidy: {left_out} of {len(sources)} sources were not looked at for lack of time")
    return 1 if failed else 0


sys.exit(main())
