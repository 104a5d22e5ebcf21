"""The ledger of serving.py, in which one day of March costs four times as much as it did, and another one eight times."""
import csv

import serving

TIMES = {"2026-03-24": 4, "2026-03-28": 8}
COSTS = ("BilledCost", "EffectiveCost", "ListCost", "ContractedCost")


def bill_with_an_unusual_day(folder):
    plain = serving.run

    def run(arguments, cwd, code=0):
        said = plain(arguments, cwd, code)
        if arguments[:2] == ["generate", "bill"]:
            bill = folder / arguments[arguments.index("--out") + 1]
            with open(bill, newline="") as file:
                rows = list(csv.DictReader(file))
            for row in rows:
                times = TIMES.get(row["ChargePeriodStart"][:10], 1)
                if times != 1:
                    row.update({name: f"{float(row[name]) * times:.6f}" for name in COSTS})
            with open(bill, "w", newline="") as file:
                writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
        return said

    serving.run = run
    make_ledger(folder)
    serving.run = plain


make_ledger = serving.make_ledger


def server():
    """`pennyweight serve` on it."""
    serving.make_ledger = bill_with_an_unusual_day
    serving.CACHE = serving.CACHE / "unusual"
    return serving.Server(serving.CONFIG)
