"""`pennyweight serve` for as long as a browser looks at it: the ledger and the people of tests/api.

usage: serve_for_pages.py PENNYWEIGHT ROOT CACHE [full|empty|currencies]

Prints one line of JSON, {"url", "folder", "people": {name: password}}, and ends when its input does.
`full` is the ledger of tests/api/serving.py, with somebody of every role; `empty` is a first start; in
`currencies` one node of `full` is billed in euros, and reports are in dollars.
"""
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(ROOT / "tests/api"))
import serving  # reads sys.argv  # noqa: E402
import two_currencies  # noqa: E402


def empty_folder():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pennyweight-web-"))
    (folder / "card.csv").write_text(serving.PRICES)  # which the configuration names
    return folder


def main():
    what = sys.argv[4] if len(sys.argv) > 4 else "full"
    if what == "empty":
        serving.ledger_copy = empty_folder
    server = two_currencies.server() if what == "currencies" else serving.Server()
    server.sign_in_admin()
    people = {"admin": serving.PASSWORD}
    if what != "empty":
        for role, scope in (("finance", ()), ("team_lead", serving.SCOPE)):
            name = f"{role}-web".replace("_", "-")
            server.add_person(role, scope, name=name)
            people[name] = serving.PASSWORD
    print(json.dumps({"url": f"http://127.0.0.1:{server.port}", "folder": str(server.folder),
                      "people": people}), flush=True)
    sys.stdin.read()


serving.guarded(main, "serve for pages")
