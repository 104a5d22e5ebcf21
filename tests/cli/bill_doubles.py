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


def total(cwd, store="pennyweight.duckdb", column="billed_cost"):
    """Of all months, in any currency."""
    code, _, _ = run(["--store", store, "export", "charges", "--out", "c.out"], cwd)
    if code != 0:
        return Decimal(0)
    with open(cwd / "c.out", newline="", encoding="utf-8") as file:
        found = sum((Decimal(row[column]) for row in csv.DictReader(file)), Decimal(0))
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
    expect_run(["import", "1.csv", "2.csv"], cwd)
    # Nor are lines that cost nothing, or those of the GPUs of one node among which a file is cut.
    free = [dict(focus(0, day, amount="0"), SkuId=f"sku-{sku}") for day in DAYS for sku in range(3)]
    gpus = [focus(9, 3, amount="3.25")] * 4
    cwd = folder()
    (cwd / "1.csv").write_text(text_of(every(focus, range(1, 4)) + free + gpus))
    (cwd / "2.csv").write_text(text_of(gpus + free + every(focus, range(4, 6))))
    for words in (["in the file"], ["as before"]):
        expect_run(["import", "1.csv", "2.csv"], cwd, 0, words)
        expect(total(cwd) == WHOLE + 26, f"files cut among lines that are alike: {total(cwd)}")
    # Files with a line or two in common with the next one, by chance: said, and all of them count.
    cwd = folder()
    for part in range(6):
        days = [2 * part + 1, 2 * part + 2, 2 * part + 3]
        (cwd / f"{part}.csv").write_text(text_of([focus(0, day) for day in days[:2]] + [focus(1, day) for day in days]))
    expect_run(["import", *(f"{part}.csv" for part in range(6))], cwd, 0, ["5 lines are in every column like another one"])


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
                   ["1,541.25 USD of ", "under the billing periods 2026-03 and 2026-04"])
    # Late usage of March and a correction of it are billed in April, and are other charges.
    cwd = folder()
    (cwd / "1.csv").write_text(text_of(every(focus)))
    late = [focus(9, 5, amount="7.5", **april), focus(1, 2, amount=-cost(1, 2), **april), focus(1, 2, **april)]
    (cwd / "2.csv").write_text(text_of(late))
    expect_run(["import", "1.csv"], cwd)
    expect_run(["import", "2.csv"], cwd)
    expect_run(["import", "1.csv"], cwd, 0, ["as before"])
    expect(total(cwd) == WHOLE + Decimal("7.5"), f"late charges: {total(cwd)}")


def check_credits_in_other_billing_periods():
    """The same charges are found whatever credits, discounts and other accounts stand beside them."""
    april = {"month": "2026-04", "after": "2026-05"}
    discounts = [(machine, day, -cost(machine, day) * Decimal("0.6")) for machine in MACHINES for day in DAYS]
    for name, less in (("a credit", [(1, 2, Decimal(-1))]), ("discounts", discounts)):
        cwd = folder()
        for month, period in (("1", {}), ("2", april)):
            (cwd / f"{month}.csv").write_text(text_of(
                every(focus, **period) + [dict(focus(machine, day, amount=amount, **period), ChargeCategory="Credit")
                                          for machine, day, amount in less]))
        net = WHOLE + sum(amount for _, _, amount in less)
        expect_run(["import", "1.csv"], cwd)
        expect_run(["import", "2.csv"], cwd, 1, ["of account 555566667777 stand in it under the billing period 2026-04 and "
                                                 "in the ledger under another billing period, 2026-03"])
        expect(total(cwd) == net, f"a month with {name}: {total(cwd)} of {net}")
    # Beside a larger account; only the charges that stand twice are named.
    cwd = folder()
    (cwd / "1.csv").write_text(text_of(every(focus)))
    (cwd / "2.csv").write_text(text_of(every(focus, **april) + every(focus, account="9", **april) +
                                       [focus(8, 4, amount="70000", account="9", **april)]))
    expect_run(["import", "1.csv"], cwd)
    expect_run(["import", "2.csv"], cwd, 1, ["1,541.25 USD of account 555566667777"])
    # In one file, beside a marketplace's charges of the same account.
    (cwd / "both.csv").write_text(text_of([dict(row, ServiceProviderName=provider) for provider, rows in (
        ("Amazon Web Services", [focus(7, 5, amount="3")]), ("", every(focus) + every(focus, **april)),
        ("Amazon Web Services", [focus(7, 5, amount="4", **april)])) for row in rows]))
    expect_run(["--store", "both", "import", "both.csv"], cwd, 1,
               ["1,541.25 USD of ", "under the billing periods 2026-03 and 2026-04"])


def check_late_charges():
    """What a later bill adds to an earlier month is taken; what costs the same to the last digit is said."""
    april = {"month": "2026-04", "after": "2026-05"}
    gpus = [focus(5, 5, amount="3.25")]
    late = dict(gpus[0], BillingPeriodStart="2026-04-01T00:00:00Z", BillingPeriodEnd="2026-05-01T00:00:00Z")
    fixed = [focus(1, 2, amount=-cost(1, 2), **april), dict(focus(1, 2, **april), InvoiceId="I-2"),
             focus(2, 2, amount="500", **april)]
    plans = [[dict(focus(20 + plan, 1, month, after, amount="100"), ChargeCategory="Purchase",
                   ChargePeriodEnd=end) for plan in range(4)]
             for month, after in (("2026-03", "2026-04"), ("2026-04", "2026-05"))
             for end in ("2027-03-01T00:00:00Z",)]
    for name, march, later, words in (
            ("one of 8 GPUs", gpus * 7, [late], []),
            ("one of 2 GPUs", gpus, [late], ["3.25 USD of account 555566667777 stand in it", "if they are the same charges"]),
            ("a correction", every(focus), fixed, []),
            ("plans that are paid monthly", every(focus) + plans[0], plans[1], [])):
        cwd = folder()
        (cwd / "1.csv").write_text(text_of(march))
        (cwd / "2.csv").write_text(text_of(later))
        expect_run(["import", "1.csv"], cwd)
        _, err = expect_run(["import", "2.csv"], cwd, 0, words)
        expect(bool(words) or "same charges" not in err, f"{name}: {err}")
        both = sum((Decimal(row["BilledCost"]) for row in march + later), Decimal(0))
        expect(total(cwd) == both, f"{name}: {total(cwd)} of {both}")
        (cwd / "both.csv").write_text(text_of(march + later))
        expect_run(["--store", "both", "import", "both.csv"], cwd, 0, words)


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
    # A credit memo as a difference, whose invoice is filled in later, and another one.
    for amount, invoice, code in (("-50", "", 0), ("-50", "", 0), ("-50", "I-7", 1), ("-51", "I-8", 0)):
        (cwd / "memo.csv").write_text(text_of([dict(focus(0, 3, amount=amount), ResourceId="", ChargeCategory="Credit", InvoiceId=invoice)]))
        expect_run(["import", "--delivery", "delta", "memo.csv"], cwd, code, ["-50.00 USD", "--not-double"] if code else [])
    expect(total(cwd) == WHOLE + Decimal("0.75") + cost(1, 1) - 9 - 50 - 51, f"credit memos: {total(cwd)}")
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
    # Exports that begin with the mark of UTF-8, or have their names in quotes.
    for number, (mark, quote) in enumerate((("\ufeff", ""), ("\ufeff", '"'), ("", '"'))):
        names = mark + ",".join(f"{quote}{name}{quote}" for name in header) + "\n"
        (cwd / "marked.csv").write_text("".join(names + text_of(part).split("\n", 1)[1] for part in (rows[:7], rows[7:])), encoding="utf-8")
        if quote and mark:
            names = names[len(mark):]  # at the beginning it is no fault
            (cwd / "marked.csv").write_text(names + "".join(
                line + "\n" for line in text_of(rows[:7]).splitlines()[1:]) + mark + names + text_of(rows[7:]).split("\n", 1)[1], encoding="utf-8")
        expect_run(["--store", f"marked{number}", "import", "marked.csv"], cwd, 0, ["1 line is the header again"])
        expect(total(cwd, f"marked{number}") == WHOLE, f"joined with {mark!r} and {quote}: {total(cwd, f'marked{number}')}")
        other = mark + ",".join(f"{quote}{name}{quote}" for name in [*header, "x_more"]) + "\n"
        (cwd / "other.csv").write_text(text_of(rows[:7]) + other + text_of(rows[7:], [*header, "x_more"]).split("\n", 1)[1], encoding="utf-8")
        expect_run(["--store", "other", "import", "--allow-aside", "other.csv"], cwd, 1, ["line 9 is the header of another file"])
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
    # All of the account is stated, whichever of its subscriptions has the commitments.
    for name, rows in (("amortised", amortised), ("actual", actual)):
        other = [dict(azure(8, day, 1000), SubscriptionId="00aaaaaa-1111-2222-3333-444444444444") for day in DAYS]
        (cwd / f"{name}2.csv").write_text(text_of(other + rows))
    expect_run(["--store", "two", "import", "amortised2.csv"], cwd)
    expect_run(["--store", "two", "import", "actual2.csv"], cwd, 1, ["6,541.25 USD billed, 6,591.25 USD effective"])
    # The amortised export beside its purchases; and one that had no commitment yet.
    expect_run(["--store", "amortised", "import", "--azure-metric", "purchases", "actual.csv"], cwd)
    expect(total(cwd, "amortised") == WHOLE + 50, f"amortised and purchases: {total(cwd, 'amortised')}")
    expect_run(["--store", "early", "import", "usage.csv"], cwd)
    expect_run(["--store", "early", "import", "amortised.csv"], cwd)
    expect(total(cwd, "early", "effective_cost") == WHOLE + 50, "an export that had no commitment yet")


def check_parts_that_are_missing():
    """A delivery that was refused, or of which a part is missing, keeps its month open, and no other one."""
    april = {"month": "2026-04", "after": "2026-05"}

    def ledger(rows):
        cwd = folder()
        (cwd / "old.csv").write_text(text_of(rows))
        expect_run(["import", "old.csv"], cwd)
        expect_run(["allocate"], cwd)
        (cwd / "export").mkdir()
        return cwd

    def manifest(cwd, texts, sent):
        (cwd / "export" / "manifest.json").write_text(json.dumps(
            {"blobs": [{"blobName": f"x/{name}", "byteCount": len(text.encode())} for name, text in texts.items()]}))
        for name, text in texts.items():
            (cwd / "export" / name).unlink(missing_ok=True)
            if name in sent:
                (cwd / "export" / name).write_text(sent[name] or text)

    rows = every(focus)
    whole = {"m-1.csv": text_of(rows[:7]), "m-2.csv": text_of(rows[7:])}
    cwd = ledger(rows)
    manifest(cwd, whole, {"m-1.csv": "", "m-2.csv": whole["m-2.csv"][:-90]})
    expect_run(["import", "export"], cwd, 1, ["m-2.csv has ", "the 2 parts here hold", "as far as it can be read"])
    expect_run(["close", "2026-03", "--by", "ann"], cwd, 1, ["m-2.csv has "])
    manifest(cwd, whole, {"m-2.csv": ""})
    expect_run(["import", "export"], cwd, 1, ["m-1.csv is missing", "the 1 part here holds"])
    expect_run(["close", "2026-03", "--by", "ann"], cwd, 1, ["m-1.csv is missing"])
    # The next month's export has the same name.
    manifest(cwd, {"m-1.csv": text_of([focus(0, 1, amount="2.5", **april)]), "m-2.csv": "x"}, {"m-1.csv": ""})
    expect_run(["import", "export"], cwd, 1, ["m-2.csv is missing"])
    expect_run(["close", "2026-03", "--by", "ann"], cwd, 1, ["m-1.csv is missing"])
    manifest(cwd, whole, {"m-1.csv": "", "m-2.csv": ""})
    expect_run(["import", "export"], cwd, 0, ["as before"])
    expect_run(["close", "2026-03", "--by", "ann"], cwd)
    # The only file of an export is cut.
    cwd = ledger(rows)
    text = text_of(rows)
    manifest(cwd, {"m.csv": text}, {"m.csv": text[:-90]})
    expect_run(["import", "export"], cwd, 1, ["m.csv has ", "the 1 part here holds", "stay, with 1,541.25 USD billed"])
    expect_run(["close", "2026-03", "--by", "ann"], cwd, 1, ["m.csv has "])
    manifest(cwd, {"m.csv": text}, {"m.csv": ""})
    expect_run(["import", "export"], cwd)
    expect_run(["close", "2026-03", "--by", "ann"], cwd)
    # Nothing says which account the rest is of, so nothing could end it.
    cwd = ledger(rows)
    manifest(cwd, whole, {"m-1.csv": text.split("\n", 1)[0] + "\n"})
    expect_run(["import", "export"], cwd, 1, ["m-1.csv has ", "the ledger does not remember this"])
    expect_run(["close", "2026-03", "--by", "ann"], cwd)
    # Of many accounts, five are named.
    cwd = ledger([row for account in range(8) for row in every(focus, [account + 1], account=f"a{account}")])
    manifest(cwd, {"m-1.csv": (cwd / "old.csv").read_text(), "m-2.csv": "x"}, {"m-1.csv": ""})
    _, err = expect_run(["import", "export"], cwd, 1, ["m-2.csv is missing"])
    expect(err.count("earlier deliveries of") == 5, f"accounts that are named: {err}")
    # A name is used anew for the next month.
    for later in ("1/3", "2/2"):
        cwd = ledger(every(focus, account="other"))
        (cwd / "march.csv").write_text(text_of([focus(0, 1, amount="7")]))
        (cwd / "april.csv").write_text(text_of([focus(0, 1, amount="8", **april)]))
        expect_run(["import", "--delivery-name", "aws", "--part", "1/2", "march.csv"], cwd)
        expect_run(["import", "--delivery-name", "aws", "--part", later, "april.csv"], cwd)
        expect_run(["allocate"], cwd)
        expect_run(["close", "2026-03", "--by", "ann"], cwd, 1, ["part 2 of 2", "is missing", "7.00 USD"])


def check_two_reports_of_one_bill():
    """By the hour and by the day, with resources and without: in one command, whichever file comes first."""
    hourly = [dict(aws(machine, day), **{"lineItem/UsageStartDate": f"2026-03-{day:02}T{hour:02}:00:00Z",
                                         "lineItem/UsageEndDate": f"2026-03-{day:02}T{hour + 1:02}:00:00Z",
                                         "lineItem/UnblendedCost": str(cost(machine, day) / 4)})
              for machine in MACHINES for day in DAYS for hour in range(4)]
    daily = [dict(row, **{"lineItem/UsageEndDate": row["lineItem/UsageEndDate"].replace("T01", "T23")}) for row in every(aws)]
    nameless = [dict(row, **{"lineItem/ResourceId": "", "lineItem/UsageType": "all"}) for row in daily]
    for name, first, second in (("hours", hourly, daily), ("no names", hourly, nameless), ("names", daily, nameless),
                                ("hours without names", [dict(row, **{"lineItem/ResourceId": ""}) for row in hourly], nameless)):
        cwd = folder()
        (cwd / "1.csv").write_text(text_of(first))
        (cwd / "2.csv").write_text(text_of(second))
        for files in (["1.csv", "2.csv"], ["2.csv", "1.csv"]):
            expect_run(["import", *files], cwd, 1, ["1,541.25 USD", "nothing was imported" if name != "names" else "twice"])
            expect(total(cwd) == NEVER, f"two reports, {name}: {total(cwd)}")
    # Hourly machines beside what is billed by the day, and hours that are dealt to two files.
    cwd = folder()
    support = [dict(row, **{"lineItem/UsageType": "support", "lineItem/ResourceId": "", "lineItem/UnblendedCost": "2.5"}) for row in daily]
    (cwd / "1.csv").write_text(text_of(hourly[::2] + support))
    (cwd / "2.csv").write_text(text_of(hourly[1::2]))
    expect_run(["import", "1.csv", "2.csv"], cwd)
    expect(total(cwd) == WHOLE + Decimal("37.5"), f"hours in two files: {total(cwd)}")
    # An export without sub accounts beside one with them, of named resources and of others.
    for number, first in enumerate((every(focus), [dict(row, ResourceId="") for row in every(focus)])):
        (cwd / "subs.csv").write_text(text_of(first))
        (cwd / "no-subs.csv").write_text(text_of([dict(row, SubAccountId="", ChargePeriodEnd=row["ChargePeriodStart"].replace("T00", "T23")) for row in first]))
        for files in (["subs.csv", "no-subs.csv"], ["no-subs.csv", "subs.csv"]):
            expect_run(["--store", f"subs{number}", "import", *files], cwd, 1, ["1,541.25 USD", "twice"])
    tax = [dict(focus(0, day, amount=cost(0, day)), SubAccountId="", ResourceId="", ServiceName="Support", SkuId="s") for day in (1, 2)]
    (cwd / "support.csv").write_text(text_of(tax))
    expect_run(["--store", "support", "import", "subs.csv", "support.csv"], cwd)
    # Machines that are billed by the hour beside others of the same price that are billed by the day.
    others = [dict(row, **{"lineItem/ResourceId": f"i-0{int(row['lineItem/ResourceId'][3:], 16) + 90:016x}"}) for row in daily]
    (cwd / "others.csv").write_text(text_of(hourly + others))
    expect_run(["--store", "others", "import", "others.csv"], cwd)
    expect(total(cwd, "others") == 2 * WHOLE, f"other machines of one price: {total(cwd, 'others')}")
    # One of them is the same one, for a day: said. For all days of two of three: refused, with their cost.
    one = [dict(others[0], **{"lineItem/ResourceId": daily[0]["lineItem/ResourceId"]}), *others[1:]]
    (cwd / "one.csv").write_text(text_of(hourly + one))
    expect_run(["--store", "one", "import", "one.csv"], cwd, 0, [f"{cost(0, 1)} USD of 2026-03 account 999988887777 stand in it twice", "if they are the same"])
    two = daily[:10] + [dict(row, **{"lineItem/UnblendedCost": "7"}) for row in others[10:]]
    (cwd / "two.csv").write_text(text_of(hourly + two))
    twice = sum(cost(machine, day) for machine in (0, 1) for day in DAYS)
    expect_run(["--store", "two", "import", "two.csv"], cwd, 1, [f"{twice:,.2f} USD of 2026-03 account 999988887777 stand in it twice", "nothing was imported"])


def check_sub_accounts_that_are_named_later():
    """A column that the provider fills in later, or leaves out, is no new line: the same cost each day, or not."""
    for amount in ("100.5", None):
        named = every(focus, amount=amount)
        nameless = [dict(row, SubAccountId="") for row in named]
        whole = sum((Decimal(row["BilledCost"]) for row in named), Decimal(0))
        cwd = folder()
        (cwd / "named.csv").write_text(text_of(named))
        (cwd / "nameless.csv").write_text(text_of(nameless))
        for first, second in (("named", "nameless"), ("nameless", "named")):
            expect_run(["--store", first, "import", f"{first}.csv"], cwd)
            expect_run(["--store", first, "import", f"{second}.csv"], cwd, 0, ["as before"])
            expect(total(cwd, first) == whole, f"sub accounts, {first} first: {total(cwd, first)} of {whole}")
        (cwd / "less.csv").write_text(text_of(named[:7]))
        # Of half a month: the ledger's lines cost more on these days, so they stay, and none comes twice.
        expect_run(["--store", "nameless", "import", "less.csv"], cwd, 1, ["USD away from"])
        expect_run(["--store", "half", "import", "nameless.csv"], cwd)
        expect_run(["--store", "half", "import", "less.csv"], cwd, 1, ["nothing was imported", f"{whole:,.2f} USD"])
        expect(total(cwd, "half") == whole, f"sub accounts of half a month: {total(cwd, 'half')} of {whole}")


def check_billing_accounts_that_are_named_later():
    """The same of the billing account, and of the issuer with it; other machines and other issuers stay."""
    def without(rows, *names):
        return [dict(row, **{name: "" for name in names}) for row in rows]

    for what, names in (("account", ["BillingAccountId"]), ("account and issuer", ["BillingAccountId", "InvoiceIssuerName"]),
                        ("account and sub account", ["BillingAccountId", "SubAccountId"])):
        for resources in ([], ["ResourceId"]):
            cwd = folder()
            named = without(every(focus), *resources, *names[1:2] if "sub" in what else [])
            (cwd / "named.csv").write_text(text_of(named))
            (cwd / "nameless.csv").write_text(text_of(without(named, *names)))
            for first, second in (("nameless", "named"), ("named", "nameless")):
                expect_run(["--store", first, "import", f"{first}.csv"], cwd)
                expect_run(["--store", first, "import", f"{second}.csv"], cwd, 0, ["1,541.25 USD billed, as before"])
                expect_run(["--store", first, "import", f"{second}.csv"], cwd, 0, ["as before"])
                expect(total(cwd, first) == WHOLE, f"{what} of {resources}, {first} first: {total(cwd, first)}")
    cwd = folder()
    (cwd / "nameless.csv").write_text(text_of(without(every(focus), "BillingAccountId")))
    (cwd / "more.csv").write_text(text_of(every(focus) + [focus(9, 5, amount="3")]))
    (cwd / "corrected.csv").write_text(text_of([dict(row, BilledCost=str(Decimal(row["BilledCost"]) + 1)) for row in every(focus)]))
    (cwd / "half.csv").write_text(text_of(every(focus, range(1, 3))))
    others = [dict(focus(machine, day, amount=cost(machine, day) + 5), ResourceId=f"other-{machine}") for machine in MACHINES for day in DAYS]
    (cwd / "others.csv").write_text(text_of(others))
    (cwd / "issuer.csv").write_text(text_of([dict(row, InvoiceIssuerName="Acme", SubAccountId="7") for row in others]))
    for name, code, words, want in (("more", 0, ["1,541.25 USD → 1,544.25 USD billed"], WHOLE + 3), ("corrected", 0, ["1,541.25 USD → 1,556.25 USD billed"], WHOLE + 15),
                                    ("half", 1, ["USD away from"], WHOLE), ("issuer", 0, ["new"], 2 * WHOLE + 75),
                                    ("others", 0, ["new"], 2 * WHOLE + 75)):
        expect_run(["--store", name, "import", "nameless.csv"], cwd)
        expect_run(["--store", name, "import", f"{name}.csv"], cwd, code, words)
        expect(total(cwd, name) == want, f"an account that is named later, {name}: {total(cwd, name)} of {want}")


def check_older_deliveries():
    """An older version of a bill takes no newer one's place, and many small losses are one large one."""
    cwd = folder()
    old, new = every(aws), [dict(row, **{"lineItem/UnblendedCost": str(Decimal(row["lineItem/UnblendedCost"]) + 1)}) for row in every(aws)]
    for name, rows in (("old", old), ("new", new)):
        (cwd / f"{name}.csv").write_text(text_of(rows))
        expect_run(["import", f"{name}.csv"], cwd)
    expect_run(["import", "old.csv"], cwd, 1, ["line for line what import 1, old.csv brought", "import 2, new.csv", "--confirm"])
    expect(total(cwd) == WHOLE + 15, f"an older delivery: {total(cwd)}")
    expect_run(["import", "new.csv"], cwd, 0, ["as before"])
    expect_run(["import", "--confirm", "old.csv"], cwd)
    expect(total(cwd) == WHOLE, f"an older delivery, confirmed: {total(cwd)}")
    # Each delivery is 6 % less than the one before it, in what was billed or in effective cost alone.
    rows = every(focus, range(1, 29))
    for cost in ("BilledCost", "EffectiveCost"):
        cwd = folder()
        lost = []
        for number in range(3):
            (cwd / f"{number}.csv").write_text(text_of([
                dict(row, **{cost: str(Decimal(row["BilledCost"]) * (100 - 6 * number) / 100)}) for row in rows]))
            code, out, err = run(["import", f"{number}.csv"], cwd)
            lost.append((code, "with the deliveries before it, it takes" in err, err))
        expect([one[:2] for one in lost] == [(0, False), (0, False), (1, True)], f"small losses of {cost}: {lost}")
        expect_run(["import", "--confirm", "2.csv"], cwd)
        expect_run(["import", "2.csv"], cwd, 0, ["as before"])


def check_sub_accounts_that_vanish():
    """One sub account after another is gone, each below what one delivery may take away."""
    def bill(subs, issuer="CoreCloud", letters=str.lower):
        return [dict(focus(0, day, amount="10"), SubAccountId=letters(f"sub-{sub:02}"), ResourceId=f"vm-{sub}", InvoiceIssuerName=issuer)
                for sub in subs for day in DAYS]

    for issuer, letters in (("CoreCloud", str.lower), ("Microsoft", str.upper)):
        cwd = folder()
        for number in range(5):
            (cwd / f"{number}.csv").write_text(text_of(bill(range(number, 30), issuer, letters if number % 2 else str.lower)))
        for number in range(4):
            expect_run(["import", f"{number}.csv"], cwd, 0, ["50.00 USD taken away"] if number else [])
        for _ in range(2):
            expect_run(["import", "4.csv"], cwd, 1, [
                "with the deliveries before it, it takes 200.00 USD away from 2026-03, account 555566667777", "import 1, 0.csv",
                "brought 1,500.00 USD; gone are 4 sub accounts: sub-00, sub-01, sub-02, sub-03"])
        expect(total(cwd) == 27 * 50, f"sub accounts that vanish: {total(cwd)}")
        # What a person confirmed counts no more; what comes back is no loss.
        expect_run(["import", "--confirm", "4.csv"], cwd)
        (cwd / "5.csv").write_text(text_of(bill(range(5, 30), issuer)))
        expect_run(["import", "5.csv"], cwd, 0, ["50.00 USD taken away"])
        (cwd / "back.csv").write_text(text_of(bill(range(2, 30), issuer)))
        expect_run(["import", "back.csv"], cwd)
        expect_run(["import", "5.csv"], cwd, 1, ["away from 2026-03"])
        expect(total(cwd) == 28 * 50, f"sub accounts that come back: {total(cwd)}")
    # Several imports brought what is lost.
    cwd = folder()
    (cwd / "a.csv").write_text(text_of(bill(range(10))))
    (cwd / "b.csv").write_text(text_of(bill(range(20))))
    (cwd / "c.csv").write_text(text_of(bill(range(30))))
    for name in "abc":
        expect_run(["import", f"{name}.csv"], cwd)
    for number, gone in enumerate(([1], [1, 11], [1, 11, 21], [1, 11, 21, 22]), 1):
        (cwd / f"{number}.csv").write_text(text_of(bill(sub for sub in range(30) if sub not in gone)))
        words = [] if number < 4 else ["import 1, a.csv and import 2, b.csv and import 3, c.csv brought 1,500.00 USD"]
        expect_run(["import", f"{number}.csv"], cwd, 0 if number < 4 else 1, words)
    # Exports of single sub accounts say nothing of each other.
    cwd = folder()
    for sub in range(30):
        (cwd / f"{sub}.csv").write_text(text_of(bill([sub])))
        expect_run(["import", f"{sub}.csv"], cwd)
    expect_run(["import", "3.csv"], cwd, 0, ["as before"])
    expect(total(cwd) == 1500, f"exports of single sub accounts: {total(cwd)}")


def check_spreadsheets():
    """What a spreadsheet makes of account numbers and dates."""
    cwd = folder()
    (cwd / "bill.csv").write_text(text_of(every(aws, payer="9.99989E+11", account="1.11122E+11")))
    expect_run(["import", "bill.csv"], cwd, 1, ["a spreadsheet has rounded", "taken: 0 rows", "set aside: 15 rows"])
    expect(total(cwd) == NEVER, f"rounded accounts: {total(cwd)}")
    for provider in ("focus",):
        (cwd / "focus.csv").write_text(text_of(every(focus) + every(focus, account="1,2E+11")))
        expect_run(["--store", provider, "import", "focus.csv"], cwd, 1, ["set aside: 15 rows; billed 1,541.25 USD"])
    for number, account in enumerate(("7E+01", "12e+10", "a1E+11", "E+11")):
        (cwd / "id.csv").write_text(text_of(every(focus, account=account)))
        expect_run(["--store", f"id{number}", "import", "id.csv"], cwd)
        expect(total(cwd, f"id{number}") == WHOLE, f"the account {account}: {total(cwd, f'id{number}')}")
    for number, account in enumerate(("7E+11", "7.00E+01", "1.2E+15")):
        (cwd / "id.csv").write_text(text_of(every(focus, account=account)))
        expect_run(["--store", f"no{number}", "import", "id.csv"], cwd, 1, ["a spreadsheet has rounded", "set aside: 15 rows"])

    def azure(date, period, machine=0, sub="0aaaaaaa-1111-2222-3333-44444444444a"):
        row = {"BillingAccountId": "abcdef-8611537", "SubscriptionId": sub, "Date": date, "MeterId": "m",
               "MeterCategory": "Virtual Machines", "UnitOfMeasure": "1 Hour", "Quantity": "24", "CostInBillingCurrency": "100.25",
               "BillingCurrencyCode": "USD", "ChargeType": "Usage", "PricingModel": "OnDemand",
               "ResourceId": f"/subscriptions/{sub}/resourceGroups/r/providers/Microsoft.Compute/virtualMachines/vm{machine}"}
        return dict(row, **(dict(zip(("BillingPeriodStartDate", "BillingPeriodEndDate"), period)) if period else {}))

    def months(store):
        found = []
        for month in range(1, 13):
            code, _, _ = run(["--store", store, "export", "focus", "--rows", "charges", "--month", f"2026-{month:02}", "--out", "c.out"], cwd)
            if code == 0 and len((cwd / "c.out").read_text().splitlines()) > 1:
                found.append(month)
        return found

    days = range(1, 6)
    first = [azure("01/03/2026", None, machine) for machine in MACHINES]
    for name, rows, want in (("iso", [azure(row["Date"], ("2026-03-01", "2026-03-31")) for row in first], [3]),
                             ("partly", first + [azure(f"2026-03-{day:02}", None) for day in (2, 3)], [3]),
                             ("period", [azure(f"{day:02}/02/2026", ("01/02/2026", "28/02/2026")) for day in days], [2]),
                             ("evident", [azure(f"{day:02}/02/2026", None) for day in (1, 2, 25)], [2]),
                             ("azure", [azure(f"02/{day:02}/2026", None) for day in days], [2])):
        (cwd / f"{name}.csv").write_text(text_of(rows))
        expect_run(["--store", name, "import", f"{name}.csv"], cwd)
        expect(months(name) == want, f"dates, {name}: {months(name)}")
    # An export of the first of a month, without its billing period.
    (cwd / "first.csv").write_text(text_of(first))
    expect_run(["--store", "first", "import", "first.csv"], cwd, 1, ["of 2026-01 if the month is first", "of 2026-03 if the day", "--azure-dates"])
    expect(months("first") == [], f"a first of a month: {months('first')}")
    expect_run(["--store", "first", "import", "--azure-dates", "day-first", "first.csv"], cwd)
    expect(months("first") == [3], f"a first of a month: {months('first')}")
    (cwd / "open.csv").write_text(text_of([azure(f"{day:02}/02/2026", None) for day in days]))
    expect_run(["--store", "open", "import", "open.csv"], cwd, 1, ["of 5 months if the month is first", "--azure-dates"])
    for order, want in (("day-first", [2]), ("month-first", [1, 2, 3, 4, 5])):
        expect_run(["--store", order, "import", "--azure-dates", order, "open.csv"], cwd)
        expect(months(order) == want, f"dates, {order}: {months(order)}")
    # Azure's ids are the same in capitals, and the last spelling takes the place of the first.
    rows = [azure(f"03/{day:02}/2026", None, machine) for day in days for machine in MACHINES]
    capitals = [dict(row, **{name: row[name].upper() for name in ("BillingAccountId", "SubscriptionId", "ResourceId")}) for row in rows]
    for name, bill in (("small", rows), ("capitals", capitals), ("less", capitals[:7])):
        (cwd / f"{name}.csv").write_text(text_of(bill))
    for first, second in (("small", "capitals"), ("capitals", "small")):
        store = f"ids-{first}"
        expect_run(["--store", store, "import", f"{first}.csv"], cwd)
        expect_run(["--store", store, "import", f"{second}.csv"], cwd, 0, ["as before"])
        expect(total(cwd, store) == Decimal("1503.75"), f"ids, {first}: {total(cwd, store)}")
        expect_run(["--store", store, "import", "less.csv"], cwd, 1, ["802.00 USD away"])


def check_totals_of_several_invoices():
    """Invoices of one account and month add up; a line that was copied is refused."""
    cwd = folder()
    (cwd / "bill.csv").write_text(text_of(every(focus)))
    expect_run(["import", "bill.csv"], cwd)
    expect_run(["allocate"], cwd)
    header = "provider,account,month,amount,invoice\nCoreCloud,555566667777,2026-03,"

    def totals(*lines):
        (cwd / "totals.csv").write_text(header.split("\n")[0] + "\n" + "".join(header.split("\n")[1] + line + "\n" for line in lines))

    totals("1500.00 USD,", "41.25 USD,")
    expect_run(["import", "totals.csv"], cwd, 0, ["1 total of the provider kept"])
    expect_run(["reconcile", "--provider"], cwd, 0, ["checked against 1,541.25 USD", "totals.csv:2 and 1 line more"])
    totals("770.625 USD,A1", "770.625 USD,A2")
    expect_run(["import", "totals.csv"], cwd)
    expect_run(["reconcile", "--provider"], cwd, 0, ["checked against 1,541.25 USD"])
    for lines in (("770.625 USD,", "770.625 USD,"), ("770.625 USD,A1", "770.625 USD,A1")):
        totals(*lines)
        expect_run(["import", "totals.csv"], cwd, 1, ["line 3", "the same amount, 770.625 USD", "column invoice"])
    totals("41.25 USD,")
    expect_run(["import", "totals.csv"], cwd)
    expect_run(["close", "2026-03", "--by", "ann"], cwd, 1, ["41.25 USD", "1,541.25 USD", "1,500.00 USD apart"])
    # The newer total of a subject counts, in whichever letters it is named.
    for provider, account in (("CORECLOUD", "555566667777"), ("corecloud", "Acme")):
        (cwd / "newer.csv").write_text(f"provider,account,month,amount\n{provider},{account},2026-03,41.25 USD\n")
        expect_run(["import", "newer.csv"], cwd)
    (cwd / "newer.csv").write_text("provider,account,month,amount\nCoreCloud,aCME,2026-03,0.00 USD\nCoreCloud,555566667777,2026-03,1541.25 USD\n")
    expect_run(["import", "newer.csv"], cwd)
    expect_run(["reconcile", "--provider"], cwd, 0, ["checked against 1,541.25 USD", "newer.csv:2"])
    (cwd / "newer.csv").write_text("provider,account,month,amount\nCoreCloud,acme,2026-03,1 USD\nCoreCloud,ACME,2026-03,1 USD\n")
    expect_run(["import", "newer.csv"], cwd, 1, ["line 3", "the same amount, 1.00 USD"])
    totals("99999999999999999999 USD,")
    expect_run(["import", "totals.csv"], cwd, 1, ["more than an invoice has"])


def check_quarters():
    """Parts complete each other within a month, and `close` says how a quarter that was cut by month is told."""
    cwd = folder()
    months = ("2026-01", "2026-02", "2026-03")
    for number, month in enumerate(months, 1):
        rows = [dict(focus(1, 2, month, f"2026-0{number + 1}"), ChargePeriodStart=f"{month}-02T00:00:00Z",
                     ChargePeriodEnd=f"{month}-02T01:00:00Z")]
        (cwd / f"{number}.csv").write_text(text_of(rows))
        expect_run(["import", "--delivery-name", "q1", "--part", f"{number}/3", f"{number}.csv"], cwd)
    expect_run(["allocate"], cwd)
    expect_run(["close", "2026-02", "--by", "ann"], cwd, 1, ["part 1 of 3", "it came for 2026-01", "import it without --part", "102.25 USD"])
    for number, month in enumerate(months, 1):
        expect_run(["import", f"{number}.csv"], cwd, 0, ["as before"])
    expect_run(["allocate"], cwd)
    for month in months:
        expect_run(["close", month, "--by", "ann"], cwd)


check_files_that_overlap()
check_other_billing_periods()
check_credits_in_other_billing_periods()
check_late_charges()
check_differences_and_currencies()
check_joined_files()
check_azure_metrics()
check_parts_that_are_missing()
check_two_reports_of_one_bill()
check_sub_accounts_that_are_named_later()
check_billing_accounts_that_are_named_later()
check_older_deliveries()
check_sub_accounts_that_vanish()
check_spreadsheets()
check_totals_of_several_invoices()
check_quarters()
report("cli/bill_doubles")
