"""Whether the program is built so that a mistake in it is hard to make use of.

usage: test_hardening.py READELF PROGRAM [compiled]

compiled: it was compiled with guards of its stack and its copies, as what users run is.
"""
import re
import subprocess
import sys

READELF, PROGRAM = sys.argv[1:3]
IS_COMPILED_SO = sys.argv[3:] == ["compiled"]
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


def read(*options):
    return subprocess.run([READELF, "-W", *options, PROGRAM], capture_output=True, text=True,
                          check=True).stdout


header, segments, dynamic = read("-h"), read("-l"), read("-d")
expect(re.search(r"Type:\s+DYN", header) and "PIE" in dynamic,
       "it can be loaded at any address (PIE)")
expect("GNU_RELRO" in segments, "tables of addresses are read-only after the start (RELRO)")
expect(re.search(r"FLAGS\)?\s.*BIND_NOW|FLAGS_1\).*\bNOW\b", dynamic),
       "all of them, since every symbol is bound at the start (full RELRO)")
stack = re.search(r"GNU_STACK\s.*?\s([RWE ]{3})\s+0x", segments)
expect(stack and "E" not in stack[1], f"the stack holds no code: {stack and stack[0]}")
both = [line for line in segments.splitlines() if re.search(r"^\s+LOAD\s", line)
        and "W" in line.split()[-2] and "E" in line.split()[-2]]
expect(not both, f"no memory is for writing and running: {both}")
expect("TEXTREL" not in dynamic, "no code is changed at the start")
if IS_COMPILED_SO:
    called = read("--dyn-syms")
    expect("__stack_chk_fail" in called, "a smashed stack is noticed")
    expect(re.search(r"__(memcpy|vsnprintf|read|memset)_chk", called),
           "a copy that is larger than its target is noticed")
print(f"hardening: {'ok' if not failures else f'{len(failures)} failed'}")
sys.exit(bool(failures))
