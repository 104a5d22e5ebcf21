"""What the tests of alerts share: they run the program, wait for what it sends, and count failures."""
import pathlib
import subprocess
import sys
import time

BINARY = pathlib.Path(sys.argv[1]).resolve()
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what, flush=True)


def run(arguments, cwd):
    done = subprocess.run([BINARY, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")


def wait_for(find, what, patience_s=120):
    """What find() returns, once it is something."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        found = find()
        if found:
            return found
        time.sleep(0.1)
    expect(False, what)
    return None
