"""Small files for a ledger, from a seed: bills, bills that are sent again, jobs, samples of usage.

Two clusters of three machines, and two months that are over. Each bill has an account of its own, by
which its lines are known again in the tables.
"""
import csv
import dataclasses
import io

MONTHS = {"2024-02": 29, "2024-03": 31}
CLUSTERS = ("ash", "elm")
CONFIG = "clusters:\n" + "".join(
    f"  - {{name: {cluster}, kind: slurm, time_zone: UTC}}\n" for cluster in CLUSTERS)
FIXED = {
    "BillingAccountName": "Faults", "BillingAccountType": "Account", "BillingCurrency": "USD",
    "ChargeCategory": "Usage", "ChargeFrequency": "Usage-Based", "ConsumedUnit": "Hours",
    "ConsumedQuantity": "24", "InvoiceIssuerName": "Maker", "PricingCategory": "Standard",
    "PricingQuantity": "24", "PricingUnit": "Hours", "RegionId": "here-1", "RegionName": "Here",
    "ResourceType": "Instance", "ServiceCategory": "Compute", "ServiceName": "Machines",
    "ServiceProviderName": "Maker", "ServiceSubcategory": "Virtual Machines", "SkuId": "SKU-1",
    "SkuMeter": "Compute p3.8xlarge", "SkuPriceId": "PRICE-1", "SubAccountId": "1",
    "x_InstanceType": "p3.8xlarge", "x_PoolId": "gpu",
    "SkuPriceDetails": '{"InstanceType":"p3.8xlarge","CoreCount":32,"GpuCount":4,'
                       '"MemorySize":244,"x_GpuModel":"V100-SXM2-16GB"}'}


@dataclasses.dataclass
class Delivery:
    name: str           # of its file
    text: str
    options: tuple      # of `import`
    table: str          # where its rows go
    rows: int
    account: str = ""   # of a bill
    replaces: bool = False


class Maker:
    def __init__(self, chance):
        self._chance = chance
        self._serial = 0

    def _name(self, what):
        self._serial += 1
        return f"{what}{self._serial}"

    @staticmethod
    def nodes():
        lines = ["cluster,node,provider_id,instance_type,region,pool,gpu_model,gpu_count,vcpu,"
                 "memory_gib,from,to"]
        for cluster in CLUSTERS:
            for k in range(3):
                lines.append(f"{cluster},{cluster}-{k},i-{cluster}-{k},p3.8xlarge,here-1,gpu,"
                             "V100-SXM2-16GB,4,32,244,2024-02-01T00:00:00Z,2024-04-01T00:00:00Z")
        return Delivery("nodes", "\n".join(lines) + "\n", (), "nodes", 6)

    def bill(self, account="", lines=0, replaces=False):
        """`account`: of a bill that was sent before; with other lines it takes its place."""
        chance = self._chance
        name = self._name("bill")
        account = account or "account-" + name
        lines = lines or chance.randint(8, 30)
        month = chance.choice(sorted(MONTHS)) if not replaces else sorted(MONTHS)[-1]
        after = "2024-03-01" if month == "2024-02" else "2024-04-01"
        rows = []
        for k in range(lines):
            day = chance.randint(1, MONTHS[month])
            cluster = chance.choice(CLUSTERS)
            node = f"{cluster}-{chance.randrange(3)}"
            cents = chance.randint(1, 50_000)
            cost = f"{cents // 100}.{cents % 100:02}{chance.randrange(10_000):04}"
            end = f"{month}-{day + 1:02}" if day < MONTHS[month] else after
            rows.append({
                **FIXED, "BillingAccountId": account, "BillingPeriodStart": f"{month}-01T00:00:00Z",
                "BillingPeriodEnd": f"{after}T00:00:00Z", "InvoiceId": f"{account}-{month}",
                "ChargePeriodStart": f"{month}-{day:02}T00:00:00Z",
                "ChargePeriodEnd": f"{end}T00:00:00Z",
                # Every line has a key of its own.
                "ChargeDescription": f"line {k} of {account}", "ResourceId": f"i-{node}",
                "ResourceName": node, "x_ClusterId": cluster, "Tags": f'{{"team":"t{k % 5}"}}',
                **{f"{which}Cost": cost for which in ("Billed", "Effective", "List",
                                                      "Contracted")},
                "ListUnitPrice": "1", "ContractedUnitPrice": "1"})
        out = io.StringIO()
        writer = csv.DictWriter(out, sorted(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        options = ("--delivery", "replacement", "--reason", "sent again") if replaces else ()
        return Delivery(name, out.getvalue(), options, "charges", lines, account, replaces)

    def jobs(self):
        chance = self._chance
        cluster = chance.choice(CLUSTERS)
        lines = ["JobIDRaw|Partition|Account|User|State|Start|End|AllocTRES|NodeList"]
        count = chance.randint(5, 25)
        name = self._name("jobs")
        for k in range(count):
            month = chance.choice(sorted(MONTHS))
            day, hour = chance.randint(1, MONTHS[month]), chance.randrange(20)
            lines.append(
                f"{name[4:]}{k:03}|gpu|team-{chance.randrange(4)}|user-{chance.randrange(6)}|"
                f"COMPLETED|{month}-{day:02}T{hour:02}:{chance.randrange(60):02}:07|"
                f"{month}-{day:02}T{hour + chance.randint(1, 3):02}:{chance.randrange(60):02}:31|"
                f"billing=1,cpu=4,gres/gpu={chance.randint(1, 4)},node=1|"
                f"{cluster}-{chance.randrange(3)}")
        return Delivery(name, "\n".join(lines) + "\n", ("--cluster", cluster), "holdings", count)

    def usage(self):
        chance = self._chance
        cluster = chance.choice(CLUSTERS)
        lines = ["cluster,node,gpu,at,gpu_util,memory_used_bytes,memory_total_bytes"]
        name = self._name("usage")
        times = set()
        for _ in range(chance.randint(20, 60)):
            month = chance.choice(sorted(MONTHS))
            node, card = chance.randrange(3), chance.randrange(4)
            # The serial number makes the instant one that no other file has.
            at = (f"{month}-{chance.randint(1, MONTHS[month]):02}T{chance.randrange(24):02}:"
                  f"{chance.randrange(60):02}:{int(name[5:]) % 60:02}."
                  f"{int(name[5:]) // 60:03}Z")
            if (node, card, at) in times:
                continue
            times.add((node, card, at))
            lines.append(f"{cluster},{cluster}-{node},GPU-{cluster}-{node}-{card},{at},"
                         f"{chance.randint(1, 100)},{chance.randint(1, 15) << 30},{16 << 30}")
        return Delivery(name, "\n".join(lines) + "\n", (), "usages", len(times))
