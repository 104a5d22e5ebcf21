"""The ledger of serving.py with VAT on its invoices, and the first days of the month that still runs billed and
allocated: what must not be closed yet."""
import datetime

import serving

CONFIG = serving.CONFIG.replace("by: team,", "by: team, tax: {name: VAT, percent: 19},")
TODAY = datetime.datetime.now(datetime.timezone.utc).date()


def with_running_month(folder):
    make_ledger(folder)
    serving.run(["generate", "bill", "--nodes", "nodes.csv", "--from", str(TODAY.replace(day=1)), "--to", str(TODAY.replace(day=1)),
                 "--prices-as-of", "2026-07-20", "--out", "running.csv"], folder)
    serving.run(["import", "--cluster", "lab", "running.csv"], folder)
    serving.run(["allocate", "--month", f"{TODAY:%Y-%m}"], folder)


make_ledger = serving.make_ledger


def server():
    """`pennyweight serve` on it."""
    serving.make_ledger = with_running_month
    serving.CACHE = serving.CACHE / f"running-{TODAY:%Y-%m}"
    return serving.Server(CONFIG)
