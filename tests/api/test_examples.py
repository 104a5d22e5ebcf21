#!/usr/bin/env python3
"""Runs the examples of docs/api/*.md as written.

A block ```console is a dialogue: `$ command` (further lines of it after a backslash), then what the
command writes. Blanks and the ends of lines don't count, and … stands for anything. All dialogues of
a page are one shell, in a folder of its own; PW is the server's address, and `ana` works in finance.
"""
import os
import re
import subprocess
import tempfile

from serving import ROOT, Server, expect, guarded

PASSWORD = "correct horse battery staple"
MARK = "----8<----"
FURTHER = 3  # pages that a reader would miss: fewer examples than this and the test has lost them


def examples(page):
    """(line number, command, what it writes) of a page."""
    number, inside = 0, False
    found = []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            inside = line == "```console"
        elif inside and line.startswith("$ "):
            found.append([number, line[2:], ""])
        elif inside and found[-1][1].endswith("\\"):
            found[-1][1] += "\n" + line
        elif inside:
            found[-1][2] += line + "\n"
    return found


def without_blanks(text):
    return re.sub(r"\s+", "", text)


def pattern_of(said):
    return ".*".join(map(re.escape, without_blanks(said).split("…")))


def run_page(server, page):
    dialogue = examples(page)
    expect(len(dialogue) >= FURTHER, f"{page.name}: only {len(dialogue)} examples were found")
    script = "".join(f"{command}\necho; echo '{MARK}' $?\n" for _, command, _ in dialogue)
    with tempfile.TemporaryDirectory(prefix="pennyweight-examples-") as folder:
        done = subprocess.run(["bash", "-s"], input=script, text=True, capture_output=True, cwd=folder,
                              timeout=300, env={**os.environ, "no_proxy": "127.0.0.1",
                                                "PW": f"http://127.0.0.1:{server.port}"})
    pieces = re.split(rf"{MARK} (\d+)\n", done.stdout)
    outputs = list(zip(pieces[0::2], pieces[1::2]))
    expect(len(outputs) == len(dialogue), f"{page.name}: {len(outputs)} of {len(dialogue)} ran\n"
                                          f"{done.stderr}")
    for (number, command, said), (output, code) in zip(dialogue, outputs):
        where = f"{page.name}:{number}: {command}"
        expect(code == "0", f"{where}\nexit code {code}\n{output}{done.stderr}")
        expect(re.fullmatch(pattern_of(said), without_blanks(output), re.S),
               f"{where}\nwrites\n{output}\nand the page says\n{said}")
    print(f"{page.name}: {len(dialogue)} examples")


def add_ana(server):
    """The users of the examples."""
    made = server.sign_in_admin().post("/api/v1/users", {
        "name": "ana", "display_name": "Ana Lima", "role": "finance", "scope": []})
    assert made.status == 201, made
    once = made.json()["password"]
    asker = server.anonymous()
    asker.sign_in("ana", once)
    changed = asker.put("/api/v1/session/password", {"old": once, "new": PASSWORD})
    assert changed.status == 204, changed


def main():
    pages = sorted((ROOT / "docs" / "api").glob("*.md"))
    expect(pages, "there are pages")
    server = Server()
    add_ana(server)
    for page in pages:
        run_page(server, page)


if __name__ == "__main__":
    guarded(main, "examples")
