"""Bills that people and providers put together wrongly: files that overlap by a day, a month under the next month's
billing period, a copy named a difference, another currency on the same amounts, files joined with their headers, an
actual export in the place of an amortised one. Each is refused with the amount, and what only looks like it is taken."""
import csv
import io
import json
from decimal import Decimal

from harness import expect, expect_run, folder, report, run

DAYS = range(1, 6)
MACHINES = range(3)


def text_of(rows, header=None):
    out = io.StringIO()
    writer = csv.DictWriter(out, header or list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def cost(machine, day):
    return Decimal("100.25") + machine + Decimal("0.5") * day


def aws(machine, day, payer="999988887777", account="111122223333"):
    begin, end = f"2026-03-{day:02}T00:00:00Z", f"2026-03-{day:02}T01:00:00Z"
    return {"identity/LineItemId": f"li{machine}-{day}", "bill/BillType": "Anniversary", "bill/PayerAccountId": payer,
            "bill/BillingPeriodStartDate": "2026-03-01T00:00:00Z", "bill/BillingPeriodEndDate": "2026-04-01T00:00:00Z",
            "lineItem/UsageAccountId": account, "lineItem/LineItemType": "Usage", "lineItem/UsageStartDate": begin,
            "lineItem/UsageEndDate": end, "lineItem/ProductCode": "AmazonEC2", "lineItem/UsageType": "BoxUsage:p5",
            "lineItem/ResourceId": f"i-0{machine:016x}", "lineItem/CurrencyCode": "USD",
            "lineItem/UnblendedCost": str(cost(machine, day)), "lineItem/LineItemDescription": "p5 hour"}


def focus(machine, day, month="2026-03", after="2026-04", account="555566667777", currency="USD", amount=None):
    amount = str(cost(machine, day) if amount is None else amount)
    return {"BilledCost": amount, "EffectiveCost": amount, "ListCost": amount, "ContractedCost": amount,
            "BillingCurrency": currency, "BillingAccountId": account, "BillingPeriodStart": f"{month}-01T00:00:00Z",
            "BillingPeriodEnd": f"{after}-01T00:00:00Z", "ChargePeriodStart": f"2026-03-{day:02}T00:00:00Z",
            "ChargePeriodEnd": f"2026-03-{day:02}T01:00:00Z", "ChargeCategory": "Usage", "InvoiceId": "",
            "InvoiceIssuerName": "CoreCloud", "ServiceName": "GPU", "SkuId": "sku-1", "ResourceId": f"vm-{machine}",
            "SubAccountId": "222233334444"}


def gcp(machine, day, invoice="202603"):
    return {"billing_account_id": "01ABCD-234567-89EF01", "service": {"description": "Compute Engine"},
            "sku": {"id": "0C5C-D8E4-38C1", "description": "A3 GPU"}, "project": {"id": "ml-prod"},
            "usage_start_time": f"2026-03-{day:02} 00:00:00 UTC", "usage_end_time": f"2026-03-{day:02} 01:00:00 UTC",
            "export_time": f"2026-03-{day:02} 09:00:00 UTC", "cost": float(cost(machine, day)), "currency": "USD",
            "credits": [], "invoice": {"month": invoice}, "cost_type": "regular",
            "resource": {"global_name": f"//compute.googleapis.com/projects/1/zones/z/instances/{machine}"}}


def lines_of(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def every(row, days=DAYS, **names):
    return [row(machine, day, **names) for machine in MACHINES for day in days]


def total(cwd, store="pennyweight.duckdb", column="BilledCost"):
    """Of all months, in any currency."""
    found = Decimal(0)
    for month in ("2026-03", "2026-04"):
        code, _, _ = run(["--store", store, "export", "focus", "--rows", "charges", "--month", month, "--out", "c.out"], cwd)
        if code == 0:
            with open(cwd / "c.out", newline="", encoding="utf-8") as file:
                found += sum((Decimal(row[column]) for row in csv.DictReader(file)), Decimal(0))
            (cwd / "c.out").unlink()
    return found


WHOLE = sum(cost(machine, day) for machine in MACHINES for day in DAYS)
DAY_3 = sum(cost(machine, 3) for machine in MACHINES)
NEVER = Decimal(0)


def check_files_that_overlap():
    for name, row, write in (("csv", aws, text_of), ("jsonl", gcp, lines_of), ("csv", focus, text_of)):
        cwd = folder()
        (cwd / f"1.{name}").write_text(write(every(row, range(1, 4))))
        (cwd / f"2.{name}").write_text(write(every(row, range(3, 6))))
        files = [f"1.{name}", f"2.{name}"]
        expect_run(["import", *files], cwd, 1, [f"{DAY_3} USD would count twice", "nothing was imported"])
        expect(total(cwd) == NEVER, f"{row.__name__}: {total(cwd)} of files that overlap")
        expect_run(["import", "--not-double", "two of each", *files], cwd)
        expect(total(cwd) == WHOLE + DAY_3, f"{row.__name__}: {total(cwd)} of files that don't overlap")
    # Machines that no line names may have lines that are alike in two files.
    cwd = folder()
    for part in (1, 2):
        (cwd / f"{part}.csv").write_text(text_of([dict(focus(0, day), ResourceId="") for day in DAYS] +
                                                 [dict(focus(part, day), ResourceId="") for day in DAYS]))
    expect_run(["import", "--not-double", "machines of one kind", "1.csv", "2.csv"], cwd)


def check_other_billing_periods():
    april = {"month": "2026-04", "after": "2026-05"}
    for name, first, second, write in (("jsonl", every(gcp), every(gcp, invoice="202604"), lines_of),
                                       ("csv", every(focus), every(focus, **april), text_of)):
        for one, other in ((first, second), (second, first)):
            cwd = folder()
            (cwd / f"1.{name}").write_text(write(one))
            (cwd / f"2.{name}").write_text(write(other))
            expect_run(["import", f"1.{name}"], cwd)
            expect_run(["import", f"2.{name}"], cwd, 1, ["under another billing period", "1,541.25 USD"])
            expect(total(cwd) == WHOLE, f"another billing period: {total(cwd)}")
        (cwd / f"both.{name}").write_text(write(first + second))
        expect_run(["--store", "both", "import", f"both.{name}"], cwd, 1,
                   ["1541.25 USD of ", "under the billing periods 2026-03 and 2026-04"])
    # Late usage of March and a correction of it are billed in April, and are other charges.
    cwd = folder()
    (cwd / "1.csv").write_text(text_of(every(focus)))
    late = [focus(9, 5, amount="7.5", **april), focus(1, 2, amount=-cost(1, 2), **april), focus(1, 2, **april)]
    (cwd / "2.csv").write_text(text_of(late))
    expect_run(["import", "1.csv"], cwd)
    expect_run(["import", "2.csv"], cwd)
    expect_run(["import", "1.csv"], cwd, 0, ["as before"])
    expect(total(cwd) == WHOLE + Decimal("7.5"), f"late charges: {total(cwd)}")


def check_differences_and_currencies():
    cwd = folder()
    (cwd / "1.csv").write_text(text_of(every(focus)))
    (cwd / "copy.csv").write_text(text_of([dict(row, InvoiceId="I-1") for row in every(focus)]))
    (cwd / "difference.csv").write_text(text_of([focus(0, 1, amount="0.75"), focus(1, 1), focus(2, 1, amount="-9")]))
    (cwd / "euros.csv").write_text(text_of(every(focus, currency="EUR", account="other")))
    expect_run(["import", "1.csv"], cwd)
    expect_run(["import", "--delivery", "delta", "copy.csv"], cwd, 1, ["1,541.25 USD", "stand there twice"])
    expect_run(["import", "euros.csv"], cwd, 1, ["1,541.25 EUR", "stand there twice"])
    expect(total(cwd) == WHOLE, f"copies: {total(cwd)}")
    expect_run(["import", "--delivery", "delta", "difference.csv"], cwd)
    expect(total(cwd) == WHOLE + Decimal("0.75") + cost(1, 1) - 9, f"differences: {total(cwd)}")
    # Two accounts that cost the same came in one file; one of them again is no new cost.
    cwd = folder()
    second = every(aws, payer="000011112222", account="444455556666")
    (cwd / "two.csv").write_text(text_of(every(aws) + second))
    (cwd / "second.csv").write_text(text_of(second))
    expect_run(["import", "two.csv"], cwd)
    expect_run(["import", "second.csv"], cwd, 0, ["as before"])
    expect(total(cwd) == 2 * WHOLE, f"two accounts: {total(cwd)}")


def check_joined_files():
    cwd = folder()
    rows = every(aws)
    header = list(rows[0])
    (cwd / "same.csv").write_text(text_of(rows[:7]) + text_of(rows[7:]))
    expect_run(["import", "same.csv"], cwd, 0, ["1 line is the header again", "1,541.25 USD billed"])
    expect(total(cwd) == WHOLE, f"joined: {total(cwd)}")
    # Amounts under each other's columns would be read without a fault.
    prices = [dict(row, **{"pricing/publicOnDemandCost": "999"}) for row in rows]
    swapped = header[:-2] + ["pricing/publicOnDemandCost", "lineItem/UnblendedCost", "lineItem/LineItemDescription"]
    for name, head in (("swapped", swapped), ("wider", [*swapped, "x_more"])):
        text = (text_of(prices[:7], [*header[:-2], "lineItem/UnblendedCost", "pricing/publicOnDemandCost",
                                     "lineItem/LineItemDescription"]) + text_of(prices[7:], head))
        (cwd / f"{name}.csv").write_text(text)
        expect_run(["--store", name, "import", f"{name}.csv"], cwd, 1, ["line 9 is the header of another file"])


def check_azure_metrics():
    def azure(machine, day, amount, kind="Usage", commitment=""):
        return {"BillingAccountId": "8611537", "SubscriptionId": "0aaaaaaa-1111-2222-3333-444444444444",
                "Date": f"03/{day:02}/2026", "BillingPeriodStartDate": "03/01/2026", "BillingPeriodEndDate": "03/31/2026",
                "MeterId": "m", "MeterCategory": "Virtual Machines", "UnitOfMeasure": "1 Hour", "Quantity": "24",
                "CostInBillingCurrency": str(amount), "BillingCurrencyCode": "USD", "ChargeType": kind,
                "PricingModel": "Reservation" if commitment else "OnDemand", "ReservationId": commitment,
                "ResourceId": f"/subscriptions/0/resourceGroups/r/providers/Microsoft.Compute/virtualMachines/vm{machine}"}

    usage = [azure(machine, day, cost(machine, day)) for machine in MACHINES for day in DAYS]
    amortised = usage + [azure(7, day, 20, "Usage", "r") for day in (1, 2)] + [azure(7, 3, 10, "UnusedReservation", "r")]
    actual = usage + [azure(7, day, 0, "Usage", "r") for day in (1, 2)] + [azure(7, 1, 50, "Purchase", "r")]
    cwd = folder()
    (cwd / "amortised.csv").write_text(text_of(amortised))
    (cwd / "actual.csv").write_text(text_of(actual))
    (cwd / "usage.csv").write_text(text_of(usage))
    for first, second, word in (("amortised", "actual", "1,591.25 USD effective"), ("actual", "amortised", "50.00 USD of purchases")):
        expect_run(["--store", first, "import", f"{first}.csv"], cwd)
        expect_run(["--store", first, "import", f"{second}.csv"], cwd, 1, ["takes the other's place", word])
    # The amortised export beside its purchases; and one that had no commitment yet.
    expect_run(["--store", "amortised", "import", "--azure-metric", "purchases", "actual.csv"], cwd)
    expect(total(cwd, "amortised") == WHOLE + 50, f"amortised and purchases: {total(cwd, 'amortised')}")
    expect_run(["--store", "early", "import", "usage.csv"], cwd)
    expect_run(["--store", "early", "import", "amortised.csv"], cwd)
    expect(total(cwd, "early", "EffectiveCost") == WHOLE + 50, "an export that had no commitment yet")


check_files_that_overlap()
check_other_billing_periods()
check_differences_and_currencies()
check_joined_files()
check_azure_metrics()
report("cli/bill_doubles")
