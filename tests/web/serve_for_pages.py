"""`pennyweight serve` for as long as a browser looks at it: the ledger and the people of tests/api.

usage: serve_for_pages.py PENNYWEIGHT ROOT CACHE [full|empty|currencies]

Prints one line of JSON, {"url", "folder", "people": {name: password}}, and ends when its input does.
`full` is the ledger of tests/api/serving.py, with somebody of every role; `empty` is a first start; in
`currencies` one node of `full` is billed in euros, and reports are in dollars.
"""
import csv
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(ROOT / "tests/api"))
import serving  # reads sys.argv  # noqa: E402


def empty_folder():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pennyweight-web-"))
    (folder / "card.csv").write_text(serving.PRICES)  # which the configuration names
    return folder


RATES = """date,from,to,rate,source
2025-10-31,EUR,USD,1.06,ecb
2025-11-30,EUR,USD,1.07,ecb
2025-12-31,EUR,USD,1.04,ecb
2026-01-31,EUR,USD,1.03,ecb
2026-02-27,EUR,USD,1.05,ecb
2026-03-31,EUR,USD,1.0821,ecb
"""


def bill_in_euros(folder):
    """A ledger whose node gpu-03 is rented elsewhere, in euros."""
    (folder / "rates.csv").write_text(RATES)
    plain = serving.run

    def run(arguments, cwd, code=0):
        said = plain(arguments, cwd, code)
        if arguments[:2] == ["generate", "bill"]:
            bill = folder / arguments[arguments.index("--out") + 1]
            with open(bill, newline="") as file:
                rows = list(csv.DictReader(file))
            for row in rows:
                if "0c333" in row["ResourceId"]:
                    row["BillingCurrency"], row["BillingAccountId"] = "EUR", "eu-1"
            with open(bill, "w", newline="") as file:
                writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
        return said

    serving.run = run
    make_ledger(folder)
    serving.run = plain


make_ledger = serving.make_ledger


def main():
    what = sys.argv[4] if len(sys.argv) > 4 else "full"
    if what == "empty":
        serving.ledger_copy = empty_folder
    config = serving.CONFIG
    if what == "currencies":
        serving.make_ledger = bill_in_euros
        serving.CACHE = serving.CACHE / "currencies"
        config += "currencies: {rates: rates.csv, report: USD}\n"
    server = serving.Server(config)
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
