"""The ledger of serving.py with VAT on its invoices, and the first days of the month that still runs billed and
allocated: what must not be closed yet."""
import datetime
import shutil

import serving

CONFIG = serving.CONFIG.replace("by: team,", "by: team, tax: {name: VAT, percent: 19},")
TODAY = datetime.datetime.now(datetime.timezone.utc).date()


def add_running_month(whole_months, folder):
    shutil.copytree(whole_months, folder, dirs_exist_ok=True)
    serving.run(["generate", "bill", "--nodes", "nodes.csv", "--from", str(TODAY.replace(day=1)), "--to", str(TODAY.replace(day=1)),
                 "--prices-as-of", "2026-07-20", "--out", "running.csv"], folder)
    serving.run(["import", "--cluster", "lab", "running.csv"], folder)
    serving.run(["allocate", "--month", f"{TODAY:%Y-%m}"], folder)


def server():
    """`pennyweight serve` on it."""
    whole_months = serving.ledger_copy()
    serving.make_ledger = lambda folder: add_running_month(whole_months, folder)
    serving.CACHE = serving.CACHE / f"running-{TODAY:%Y-%m}"
    try:
        return serving.Server(CONFIG)
    finally:
        shutil.rmtree(whole_months)
