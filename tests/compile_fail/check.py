#!/usr/bin/env python3
"""Proves that wrong code does not compile. Runs as the test `compile_fail`.

usage: check.py SOURCE COMPILER [FLAG...]

SOURCE holds cases, each opening with `#if CASE == n  // what` and a line
`// refused: regular expression`. Without a case it must compile; each case must be refused, and for
the reason that its expression names.
"""
import os, re, subprocess, sys
from concurrent.futures import ThreadPoolExecutor

source, compiler = sys.argv[1], sys.argv[2:]
CASE = re.compile(r"^#(?:el)?if CASE == (\d+)\s+// (.*)\n\s*// refused: (.*)$", re.M)


def compile_case(number):
    # The same words from every compiler and in every language of the machine.
    run = subprocess.run([*compiler, "-fsyntax-only", f"-DCASE={number}", source],
                         capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    return run.returncode, run.stderr


def judge(case):
    number, what, reason = case
    status, message = compile_case(number)
    if status == 0:
        return f"case {number} ({what}) compiles, and must not"
    errors = "\n".join(line for line in message.splitlines() if "error:" in line)
    if not re.search(reason, errors):
        return f"case {number} ({what}) is refused for another reason than '{reason}':\n{errors}"
    return None


with open(source, encoding="utf-8") as file:
    text = file.read()
cases = CASE.findall(text)
problems = []
if len(cases) != len(re.findall(r"^#(?:el)?if CASE ==", text, re.M)):
    problems.append("a case does not say what it is or why it is refused")
if [int(number) for number, _, _ in cases] != list(range(1, len(cases) + 1)):
    problems.append("the cases are not numbered 1, 2, 3, …")
status, message = compile_case(0)
if status != 0:
    problems.append(f"with no case picked the file must compile:\n{message}")
else:
    with ThreadPoolExecutor(max_workers=2) as pool:
        problems += filter(None, pool.map(judge, cases))
print("\n".join(problems) or f"{len(cases)} cases are refused, each for its own reason")
sys.exit(bool(problems))
