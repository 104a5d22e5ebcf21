"""What the tests of the command line share: a folder of their own, the program, and checks.

Every script is called as SCRIPT BINARY ROOT SQL_TOOL, and ends with report().
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BINARY, ROOT, SQL_TOOL = (os.path.abspath(path) for path in sys.argv[1:4])
DATA = pathlib.Path(ROOT) / "tests" / "data" / "cli"
failures = []


def folder():
    """A fresh working folder with the small data in it."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="pennyweight-cli-"))
    for file in sorted(DATA.iterdir()):
        shutil.copy(file, path / file.name)
    return path


def run(arguments, cwd, stdin=None, **kwargs):
    """The program's exit code, output and messages."""
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    done = subprocess.run([BINARY, *arguments], cwd=cwd, input=stdin, capture_output=True,
                          env=environment, timeout=300, **kwargs)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


def expect_run(arguments, cwd, code=0, has=(), stdin=None):
    """Runs, and checks the exit code and that output or messages hold every text of `has`."""
    got, out, err = run(arguments, cwd, stdin)
    name = "pennyweight " + " ".join(str(argument) for argument in arguments)
    expect(got == code, f"{name}: exit code {got}, want {code}\n{out}{err}")
    for text in has:
        expect(text in out + err, f"{name}: no '{text}' in\n{out}{err}")
    return out, err


BILL = ["generate", "bill", "--nodes", "nodes.csv", "--from", "2026-03-01", "--to", "2026-03-31",
        "--prices-as-of", "2026-07-20", "--out", "bill.csv"]


def import_all(cwd, extra=()):
    expect_run([*extra, *BILL], cwd)
    expect_run([*extra, "import", "--cluster", "lab", "nodes.csv", "jobs.txt", "bill.csv"], cwd)


def report(name):
    print(f"{name}: {'ok' if not failures else str(len(failures)) + ' failed'}")
    sys.exit(bool(failures))
