"""The ledger of serving.py with one node, gpu-03, rented elsewhere and billed in euros; reports are in dollars."""
import csv

import serving

CONFIG = serving.CONFIG + "currencies: {rates: rates.csv, report: USD}\n"
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


def server(report="USD"):
    """`pennyweight serve` on it, which reports in that currency."""
    serving.make_ledger = bill_in_euros
    serving.CACHE = serving.CACHE / "currencies"
    return serving.Server(CONFIG.replace("report: USD", f"report: {report}"))
