"""Runs every example of --help (docs/guide/cli-examples.txt), and sees that --help shows them."""
import os
import pathlib
import subprocess

from harness import BINARY, ROOT, expect, folder, report, run

cwd = folder()
bin_folder = cwd / "bin"
bin_folder.mkdir()
os.symlink(BINARY, bin_folder / "pennyweight")
environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"}

verb = command = None
code, texts, shown = 0, [], {}


def finish():
    """Runs the command that was read last and checks it."""
    global command, code, texts
    if command is not None:
        done = subprocess.run(["bash", "-c", command], cwd=cwd, env=environment,
                              capture_output=True, timeout=300)
        output = done.stdout.decode() + done.stderr.decode()
        expect(done.returncode == code, f"{command}: exit code {done.returncode}\n{output}")
        for text in texts:
            expect(text in output, f"{command}: no '{text}' in\n{output}")
    command, code, texts = None, 0, []


for line in (pathlib.Path(ROOT) / "docs/guide/cli-examples.txt").read_text().splitlines():
    if line.startswith("## "):
        finish()
        verb = line[3:]
        shown[verb] = []
    elif verb and line.startswith("$ "):
        finish()
        command = line[2:]
        shown[verb].append(line)
    elif verb and line.startswith("? "):
        code = int(line[2:])
    elif verb and line.startswith("> "):
        texts.append(line[2:])
finish()

for verb, lines in shown.items():
    got, out, err = run([verb, "--help"], cwd)
    expect(got == 0, f"{verb} --help: exit code {got}")
    for line in lines:
        expect(line in out, f"{verb} --help does not show: {line}")
got, out, err = run(["--help"], cwd)
for verb in shown:
    expect(verb in out, f"--help does not name {verb}")
report("cli/examples")
