"""What the tests of alerts share: they run the program, wait for what it sends, and count failures."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

DATA = pathlib.Path(sys.argv[2]).resolve() / "tests" / "data" / "cli"
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


def billed_folder(name, config, more=()):
    """A folder with a ledger of one cluster, billed for four days of March 2026 and allocated; `more`: further files,
    by name."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"pennyweight-{name}-"))
    for file in ("nodes.csv", "jobs.txt"):
        shutil.copy(DATA / file, folder / file)
    for file, text in dict(more, **{"pennyweight.yaml": config}).items():
        (folder / file).write_text(text)
    run(["generate", "bill", "--nodes", "nodes.csv", "--from", "2026-03-01", "--to", "2026-03-05",
         "--prices-as-of", "2026-07-20", "--out", "bill.csv"], folder)
    run(["import", "--cluster", "lab", "nodes.csv", "jobs.txt"], folder)
    run(["import", "--cluster", "lab", "bill.csv"], folder)
    run(["allocate"], folder)
    return folder


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
