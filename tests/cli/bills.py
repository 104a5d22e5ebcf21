"""Generated months of every provider, through the whole program: what was billed and what the
amortised view has are the generator's truth by month, invoice, account, service and team, every
line is posted to its last digit, and neither a second import nor another packing changes a byte."""
import collections
import csv
import decimal
import gzip
import io
import json
import shutil
import subprocess
from decimal import Decimal

from harness import expect, expect_run, folder, report

decimal.getcontext().prec = 60
ZERO = (Decimal(0), Decimal(0))

# Parts of two months, over the beginning of daylight saving time in America; a commitment's
# upfront payment is in the first.
SPAN = ["--from", "2026-02-26", "--to", "2026-03-12", "--prices-as-of", "2026-08-15"]
MONTHS = ["2026-02", "2026-03"]

TYPES = {
    "aws": ("us-east-1", [("p4d.24xlarge", "A100-SXM4-40GB", 8, 96, 1152),
                          ("g5.48xlarge", "A10G", 8, 192, 768)]),
    "azure": ("eastus", [("Standard_ND96asr_v4", "A100-SXM4-40GB", 8, 96, 900),
                         ("Standard_ND96isr_H100_v5", "H100-SXM5-80GB", 8, 96, 1900)]),
    "gcp": ("us-central1", [("a2-highgpu-8g", "A100-SXM4-40GB", 8, 96, 680),
                            ("a3-highgpu-8g", "H100-SXM5-80GB", 8, 208, 1872)]),
    "oci": ("", [("BM.GPU4.8", "A100-SXM4-40GB", 8, 128, 2048),
                 ("BM.GPU.H100.8", "H100-SXM5-80GB", 8, 224, 2048)]),
}
NODES = 20


def provider_id(provider, cluster, number):
    """As Kubernetes and the clouds' consoles name a machine."""
    name = f"node-{number:02}"
    return {"aws": f"aws:///us-east-1a/i-0aa{number:014x}",
            "azure": "azure:///subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/"
                     f"RG-{cluster}/providers/Microsoft.Compute/virtualMachines/{name}",
            # The bill has the number of the project, and an inventory its name.
            "gcp": f"gce://lab-project/us-central1-a/{name}",
            "oci": f"ocid1.instance.oc1.iad.{number:032x}"}[provider]


def write_inventory(path, provider):
    region, types = TYPES[provider]
    lines = ["cluster,node,provider_id,instance_type,region,pool,gpu_model,gpu_count,vcpu,"
             "memory_gib,from,to"]
    for number in range(NODES):
        cluster = f"cluster-{number % 2 + 1}"
        kind, model, gpus, vcpu, memory = types[number // 2 % 2]
        lines.append(f"{cluster},node-{number:02},{provider_id(provider, cluster, number)},{kind},"
                     f"{region},gpu,{model},{gpus},{vcpu},{memory},2026-01-01T00:00:00Z,")
    path.write_text("\n".join(lines) + "\n")


def add(sums, key, billed, effective):
    there = sums.get(key, ZERO)
    sums[key] = (there[0] + Decimal(billed), there[1] + Decimal(effective))


def without_zeros(sums):
    return {key: value for key, value in sums.items() if value != ZERO}


def expect_same(name, what, got, want, least):
    got, want = without_zeros(got), without_zeros(want)
    expect(len(want) >= least, f"{name}: only {len(want)} rows of truth by {what}")
    for key in sorted(set(got) | set(want)):
        expect(got.get(key, ZERO) == want.get(key, ZERO),
               f"{name}: by {what}, {key}: {got.get(key)}, the truth is {want.get(key)}")


def truth_of(files):
    """The amounts of one bill's truth, or of Azure's two: billed is the first's, effective the
    second's."""
    amounts = []
    for place, file in enumerate(files):
        truth = json.loads(file.read_text())
        for row in truth["amounts"]:
            row["service"] = row["service"] or "Azure"  # of taxes; FOCUS wants a name
            if len(files) == 2:
                row["effective" if place == 0 else "billed"] = "0"
        amounts += truth["amounts"]
    return amounts


def sums_of(amounts, keys):
    sums = {}
    for row in amounts:
        add(sums, tuple(row[key] for key in keys), row["billed"], row["effective"])
    return sums


def exported(cwd):
    """The bill lines as FOCUS, of all months."""
    rows = []
    for month in MONTHS:
        expect_run(["export", "focus", "--rows", "charges", "--month", month, "--out",
                    f"charges-{month}.csv"], cwd)
        with open(cwd / f"charges-{month}.csv", newline="", encoding="utf-8") as file:
            rows += csv.DictReader(file)
    return rows


def tag(row, key):
    return json.loads(row["Tags"] or "{}").get(key, "")


def by_tag(rows):
    sums = {}
    for row in rows:
        key = (row["BillingPeriodStart"][:7], row["InvoiceId"], row["SubAccountId"],
               row["ServiceName"], tag(row, "team"))
        add(sums, key, row["BilledCost"], row["EffectiveCost"])
    return sums


def reported(cwd, by):
    out, _ = expect_run(["report", "--by", by, "--cost", "all", "--format", "json"], cwd)
    tables = json.loads(out)
    expect(len(tables) == 1, "one currency, one table")
    return tables[0]["rows"]


def write_holdings(cwd, rows):
    """A job on each machine, as long as the bill, of the team by which the bill's tag knows it."""
    nodes = list(csv.DictReader((cwd / "nodes.csv").read_text().splitlines()))
    teams = {}
    for row in rows:
        machine = row["ResourceId"].split("/")[-1]
        teams.setdefault(machine, set()).add(tag(row, "team"))
    lines = [["cluster", "workload", "begin", "end", "node", "devices", "team"]]
    found = set()
    for node in nodes:
        machine = node["provider_id"].split("/")[-1] or node["node"]
        of_node = teams.get(machine, set())
        expect(len(of_node) == 1, f"machine {machine} has {of_node} as teams")
        team = next(iter(of_node), "") or "untagged"
        found.add(team)
        lines.append([node["cluster"], f"job-{node['node']}", "2026-02-25T00:00:00Z",
                      "2026-04-01T00:00:00Z", node["node"], node["gpu_count"], team])
    expect(len(found) >= 4, f"only the teams {found}")
    with open(cwd / "holdings.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)


def is_of_machine(provider, row):
    """Whether the truth's row is billed for machines themselves. Volumes, fees, taxes and credits
    name no machine; Azure's other refunds are of commitments, and Google's name no resource."""
    if row["type"] == "refund":
        return provider == "aws" or provider == "azure" and row["team"] != ""
    return row["type"] in {"on demand", "spot", "commitment used", "correction"}


def expect_teams_pay(name, provider, cwd, amounts):
    """The jobs of a team pay what the bill has for the machines that it tags with the team."""
    want, got = {}, {}
    for row in amounts:
        if is_of_machine(provider, row):
            add(want, (row["month"], row["team"] or "untagged"), row["billed"], row["effective"])
    for row in reported(cwd, "month,team"):
        if not row["team"].startswith("("):
            add(got, (row["month"], row["team"]), row["billed_cost"], row["effective_cost"])
    expect_same(name, "month and team that held the machines", got, want, 8)


def expect_commitments(name, provider, rows, truth):
    """Of each commitment, what was used and what was not. Google's use does not name its
    commitment."""
    got = {}
    for row in rows:
        if row["CommitmentDiscountStatus"]:
            key = (row["CommitmentDiscountId"], row["CommitmentDiscountStatus"])
            add(got, key, 0, row["EffectiveCost"])
    want = {}
    for commitment in json.loads(truth.read_text())["commitments"]:
        add(want, (commitment["id"], "Used"), 0, commitment["used"])
        add(want, (commitment["id"], "Unused"), 0, commitment["unused"])
    if provider == "gcp":
        got = {key: value for key, value in got.items() if key in want and key[1] == "Unused"}
        want = {key: value for key, value in want.items() if key[1] == "Unused"}
    expect_same(name, "commitment", got, want, 0 if provider == "oci" else 2)


def expect_reconciled(name, cwd, amounts):
    expect_run(["reconcile"], cwd, 0, ["0 off, 0 of them never allocated"])
    out, _ = expect_run(["reconcile", "--format", "json"], cwd)
    got, want = {}, sums_of(amounts, ["month"])
    for table in json.loads(out):
        rows = {row["cost"]: row for row in table["rows"]}
        for row in table["rows"]:
            expect(Decimal(row["difference"]) == 0, f"{name}: off: {row}")
            expect(row["lines"] == row["posted"], f"{name}: off: {row}")
        got[(table["title"][:7],)] = (Decimal(rows["billed"]["posted"]),
                                      Decimal(rows["effective"]["posted"]))
    expect_same(name, "month", got, want, 2)
    report_sums = {}
    for row in reported(cwd, "month,sub_account,service"):
        account = "" if row["sub_account"].startswith("(") else row["sub_account"]  # (shared)
        add(report_sums, (row["month"], account, row["service"]), row["billed_cost"],
            row["effective_cost"])
    expect_same(name, "month, account and service", report_sums,
                sums_of(amounts, ["month", "account", "service"]), 6)


def allocated(cwd):
    """All that an allocation says, as bytes, less the place of a line in its file."""
    expect_run(["export", "postings", "--out", "postings.csv"], cwd)
    expect_run(["export", "charges", "--out", "charges.csv"], cwd)
    with open(cwd / "charges.csv", newline="", encoding="utf-8") as file:
        charges = [{key: value for key, value in row.items() if key != "file_line"}
                   for row in csv.DictReader(file)]
    return (cwd / "postings.csv").read_bytes(), charges


def new_ledger(cwd, bills):
    """A second ledger in a folder of its own, with the same machines and jobs."""
    path = folder()
    for name in ["nodes.csv", "holdings.csv"]:
        shutil.copy(cwd / name, path / name)
    expect_run(["import", "nodes.csv", "holdings.csv"], path)
    bills(path)
    expect_run(["allocate"], path)
    return allocated(path)


def split_in_three(cwd, path):
    """The bill in three files, each with the header, rows dealt out as they come."""
    with open(cwd / "bill.csv", newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    for part in range(3):
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows[part::3])
        (path / f"part-{part}.csv").write_text(out.getvalue(), encoding="utf-8")


def packed(cwd, path, how):
    if how == "gzip":
        (path / "bill.csv.gz").write_bytes(gzip.compress((cwd / "bill.csv").read_bytes()))
        expect_run(["import", "bill.csv.gz"], path)
    elif how == "zstd":
        subprocess.run(["zstd", "-q", str(cwd / "bill.csv"), "-o", str(path / "bill.csv.zst")],
                       check=True)
        expect_run(["import", "bill.csv.zst"], path)
    else:
        split_in_three(cwd, path)
        expect_run(["import", "--delivery", "replacement", "part-0.csv", "part-1.csv",
                    "part-2.csv"], path)


def check(name, provider, bills, packings=()):
    """`bills`: the arguments of `generate bill`, and those of `import`, of each file."""
    cwd = folder()
    write_inventory(cwd / "nodes.csv", provider)
    truths, imports = [], []
    for place, (generate, options) in enumerate(bills):
        file = cwd / ("bill.csv" if place == 0 else f"bill-{place}.csv")
        truth = cwd / f"truth-{place}.json"
        out, err = expect_run(["generate", "bill", "--nodes", "nodes.csv", *SPAN, *generate,
                               "--out", file.name, "--truth", truth.name], cwd)
        truths.append(truth)
        imports.append(["import", *options, file.name])
    amounts = truth_of(truths)

    for arguments in imports:
        expect_run(arguments, cwd)
    rows = exported(cwd)
    expect_same(name, "month, invoice, account, service and tag `team`", by_tag(rows),
                sums_of(amounts, ["month", "invoice", "account", "service", "team"]), 12)
    expect_commitments(name, provider, rows, truths[-1])
    write_holdings(cwd, rows)
    expect_run(["import", "nodes.csv", "holdings.csv"], cwd)
    expect_run(["allocate"], cwd)
    expect_reconciled(name, cwd, amounts)
    expect_teams_pay(name, provider, cwd, amounts)

    before = allocated(cwd)
    expect(before[0].count(b"\n") > 500, f"{name}: there are postings to compare")
    for arguments in imports:
        expect_run(arguments, cwd, 0, [": 0 new,"])
    expect_run(["allocate"], cwd, 0, ["unchanged"])
    expect(allocated(cwd) == before, f"{name}: imported twice it is another ledger")
    for how in packings:
        expect(new_ledger(cwd, lambda path: packed(cwd, path, how)) == before,
               f"{name}: as {how} it is another ledger")
    types = collections.Counter(row["type"] for row in amounts)
    total = sums_of(amounts, [])[()]
    print(f"{name}: {len(rows)} lines, billed {total[0]}, effective {total[1]}; "
          f"{', '.join(sorted(types))}")


def check_issuers():
    """A bill in FOCUS has the issuer whose machines it is for, and one bill has one issuer."""
    issuers = {"aws": "Amazon Web Services, Inc.", "azure": "Microsoft", "gcp": "Google Cloud",
               "oci": "Oracle"}
    cwd = folder()
    arguments = ["generate", "bill", "--nodes", "nodes.csv", "--from", "2026-03-01", "--to",
                 "2026-03-01", "--prices-as-of", "2026-08-15", "--out", "bill.csv"]
    both = ""
    for provider, issuer in issuers.items():
        write_inventory(cwd / "nodes.csv", provider)
        both = both or (cwd / "nodes.csv").read_text()
        expect_run(arguments, cwd)
        with open(cwd / "bill.csv", newline="", encoding="utf-8") as file:
            found = {row["InvoiceIssuerName"] for row in csv.DictReader(file)}
        expect(found == {issuer}, f"the bill of {provider} is from {found}")
    with open(cwd / "nodes.csv", "a", encoding="utf-8") as file:
        file.write(both.split("\n", 1)[1].replace("node-", "other-"))
    expect_run(arguments, cwd, 2, ["aws and oci", "one bill has one issuer", "--provider"])
    expect_run([*arguments, "--provider", "oci"], cwd)


def check_focus():
    """A bill in FOCUS says itself what it comes to; no truth is written beside it."""
    cwd = folder()
    write_inventory(cwd / "nodes.csv", "aws")
    expect_run(["generate", "bill", "--nodes", "nodes.csv", *SPAN, "--out", "bill.csv"], cwd)
    with open(cwd / "bill.csv", newline="", encoding="utf-8") as file:
        native = list(csv.DictReader(file))
    expect_run(["import", "bill.csv"], cwd)
    rows = exported(cwd)
    expect_same("focus", "month, invoice, account, service and tag `team`", by_tag(rows),
                by_tag(native), 12)
    expect_run(["import", "nodes.csv"], cwd)
    expect_run(["allocate"], cwd)
    amounts = [{"month": row["BillingPeriodStart"][:7], "account": row["SubAccountId"],
                "service": row["ServiceName"], "billed": row["BilledCost"],
                "effective": row["EffectiveCost"]} for row in native]
    expect_reconciled("focus", cwd, amounts)
    total = sums_of(amounts, [])[()]
    print(f"focus: {len(rows)} lines, billed {total[0]}, effective {total[1]}; "
          f"{', '.join(sorted({row['ChargeCategory'] for row in native}))}")


ZSTD = ["zstd"] if shutil.which("zstd") else []
check("aws-cur", "aws", [(["--as", "aws-cur"], [])], ["gzip", *ZSTD, "three files"])
check("aws-cur2", "aws", [(["--as", "aws-cur2", "--edp", "net", "--hostile"], [])])
check("aws-cur2 Parquet", "aws", [(["--as", "aws-cur2", "--parquet", "--edp", "none"], [])])
# Both exports are of one account and month, and each replaces itself alone.
PURCHASES = ["--azure-metric", "purchases", "--delivery", "replacement"]
AMORTIZED = ["--azure-metric", "amortized", "--delivery", "replacement"]
MCA = ["--agreement", "mca"]
check("azure EA", "azure",
      [(["--as", "azure-actual"], PURCHASES), (["--as", "azure-amortized"], AMORTIZED)])
check("azure MCA", "azure",
      [(["--as", "azure-actual", *MCA], PURCHASES), (["--as", "azure-amortized", *MCA], AMORTIZED)])
check("gcp-csv", "gcp", [(["--as", "gcp-csv"], [])], ["three files"])
check("gcp-json", "gcp", [(["--as", "gcp-json", "--hostile"], [])])
check("gcp Parquet", "gcp", [(["--as", "gcp-json", "--parquet"], [])])
check("oci", "oci", [(["--as", "oci"], [])], ["gzip"])
check_issuers()
check_focus()
report("cli/bills")
