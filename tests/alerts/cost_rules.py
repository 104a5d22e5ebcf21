"""The rules about bills, all but those of forecast_rules.py, fire and end by bills that are imported between runs
of `serve`, each of which is killed. PENNYWEIGHT_KILLS: how often more. They arrive at a webhook, at a real SMTP server and at a real Alertmanager, where
these are installed.

usage: cost_rules.py PENNYWEIGHT ROOT
"""
import csv
import datetime
import io

from outlets import Outlets
from steps import KILLS, Serve, expect, finish, new_folder, run

HISTORY_DAYS = 66
TODAY = datetime.datetime.now(datetime.timezone.utc).date()
NODES = {"gpu-01": ("i-0a11111111111111a", "nlp"), "gpu-02": ("i-0b22222222222222b", "cv")}
# What the bill says of an unusual day, as a part of what the machines cost on others, by how many days ago it was.
UNUSUAL = {1: "5"}
# Spot nodes of yesterday: one of three was taken back an hour ago, under a job; later there are three more.
SPOT = [f"spot-{number}" for number in range(1, 7)]
NOW = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0, tzinfo=None)
TAKEN_BACK = NOW - datetime.timedelta(hours=1)
ALL = {"budget_forecast", "commitment_expires", "commitment_underused", "cost_anomaly", "costs_missing",
       "coverage_fell", "reconcile_off", "spot_interrupted"}
# A savings plan that ends in thirty days.
COMMITMENT = {"CommitmentDiscountId": "sp-1", "CommitmentDiscountCategory": "Spend",
              "CommitmentDiscountType": "Savings Plan", "CommitmentDiscountStatus": "",
              "x_SavingsPlanEndTime": f"{TODAY + datetime.timedelta(days=30)}T00:00:00.000Z"}
COSTS = ("BilledCost", "EffectiveCost", "ListCost", "ContractedCost")


def day(ago):
    return TODAY - datetime.timedelta(days=ago)


def nodes_csv(spot):
    lines = ["cluster,node,provider_id,instance_type,region,pool,gpu_model,gpu_count,vcpu,memory_gib,from,to"]
    lines += [f"lab,{name},{id},p4d.24xlarge,us-east-1,train,A100-SXM4-40GB,8,96,1152,{day(HISTORY_DAYS)}T00:00:00Z,"
              for name, (id, _) in NODES.items()]
    lines += [f"lab,{name},i-{name},g4dn.xlarge,us-east-1,spot,Tesla-T4,1,4,16,{day(1)}T00:00:00Z,"
              + (f"{TAKEN_BACK.isoformat()}Z" if name == "spot-1" else "") for name in spot]
    return "\n".join(lines) + "\n"


def jobs_txt():
    """A job a day on each node; in the last week those of cv don't say whose they are."""
    lines = ["JobID|JobName|Partition|Account|User|State|Start|End|ElapsedRaw|NNodes|AllocCPUS|AllocTRES|NodeList"]
    number = 0
    for ago in range(HISTORY_DAYS, 0, -1):
        for name, (_, team) in NODES.items():
            number += 1
            account = "" if team == "cv" and ago <= 7 else team
            lines.append(f"{number}|x|train|{account}|ana|COMPLETED|{day(ago)}T00:00:00|{day(ago - 1)}T00:00:00|86400|1|96|"
                         f"billing=96,cpu=96,gres/gpu=8,mem=1152G,node=1|{name}")
    return "\n".join(lines) + "\n"


def spot_job_txt():
    begin = TAKEN_BACK - datetime.timedelta(minutes=30)
    return (f"{jobs_txt().splitlines()[0]}\n9001|x|spot|nlp|ana|NODE_FAIL|{begin.isoformat()}|{TAKEN_BACK.isoformat()}|"
            "1800|1|4|billing=4,cpu=4,gres/gpu=1,mem=16G,node=1|spot-1\n")


class Bills:
    def __init__(self, folder, unusual, usual=lambda ago: "1", spot=()):
        self.folder, self.unusual, self.usual = folder, unusual, usual
        self.spot = []  # those that there are so far
        self.is_late = False  # the month before has been billed anew, a little higher
        (folder / "all_nodes.csv").write_text(nodes_csv(spot))
        (folder / "nodes.csv").write_text(nodes_csv(()))
        (folder / "jobs.txt").write_text(jobs_txt())
        run(["import", "--cluster", "lab", "nodes.csv", "jobs.txt"], folder)
        run(["generate", "bill", "--nodes", "all_nodes.csv", "--from", str(day(HISTORY_DAYS)), "--to", str(TODAY),
             "--prices-as-of", "2026-07-20", "--out", "all.csv"], folder)
        with open(folder / "all.csv", newline="") as file:
            reader = csv.DictReader(file)
            self.columns, self.rows = reader.fieldnames, list(reader)

    def begin_spot(self, names):
        self.spot = names
        (self.folder / "nodes.csv").write_text(nodes_csv(names))
        (self.folder / "spot_job.txt").write_text(spot_job_txt())
        run(["import", "--cluster", "lab", "nodes.csv", "spot_job.txt"], self.folder)

    def bring(self, last, *more, is_unusual=True):
        """Imports the bill up to the day that was `last` days ago, as AWS does: each replaces the one before."""
        out = io.StringIO()
        writer = csv.DictWriter(out, list(dict.fromkeys([*self.columns, *COMMITMENT])))
        writer.writeheader()
        for row in self.rows:
            ago = (TODAY - datetime.date.fromisoformat(row["ChargePeriodStart"][:10])).days
            if ago < last:
                continue
            name = row["ResourceId"].removeprefix("i-")
            if name in SPOT:
                if name not in self.spot:
                    continue
                row = {**row, "PricingCategory": "Dynamic"}
            factor = self.unusual.get(ago, self.usual(ago)) if is_unusual else self.usual(ago)
            if self.is_late and row["BillingPeriodEnd"][:10] == str(TODAY.replace(day=1)):
                factor = "1.01"
            scaled = {name: f"{float(row[name]) * float(factor):.6f}" for name in COSTS}
            writer.writerow({**row, **scaled} if factor != "1" else row)
            if row["ResourceId"] == NODES["gpu-01"][0]:
                # A third of a commitment is paid for nothing, until that is corrected.
                for status, cost in (("Used", "20"), ("Unused", "10" if is_unusual else "1")):
                    writer.writerow({**row, **COMMITMENT, "CommitmentDiscountStatus": status, "ResourceId": "",
                                     "ResourceName": "", "ResourceType": "", **dict.fromkeys(COSTS, cost)})
        (self.folder / "bill.csv").write_text(out.getvalue())
        run(["import", "--cluster", "lab", *more, "bill.csv"], self.folder)


def main():
    folder = new_folder("cost-rules")
    outlets = Outlets(folder)

    def configure(more="", alerts=""):
        (folder / "pennyweight.yaml").write_text(f"""
clusters: [{{name: lab, kind: slurm, time_zone: UTC}}]
time_zone: UTC
{more}
{outlets.mail}
alerts:
  every: 1s
{alerts}
{outlets.config(ALL)}""")

    def set_budget(amount):
        run(["budget", "set", "run", "--amount", f"{amount} USD", "--period", "project", "--from",
             str(day(HISTORY_DAYS)), "--to", str(day(-60)), "--owner", "ana"], folder)

    configure()
    bills = Bills(folder, UNUSUAL, spot=SPOT)
    bills.bring(6)
    run(["allocate"], folder)
    serve = Serve(folder)
    try:
        # No bill has come for five days.
        serve.begin()
        serve.kill_often(KILLS // 4)
        outlets.wait_for("firing", {"costs_missing"})
        serve.kill()
        # The month before is billed anew. `serve` allocates the days that have just ended, and not that month.
        bills.is_late = True
        bills.bring(1)
        set_budget(50_000_000)
        serve.begin()
        serve.kill_often(KILLS // 4)
        outlets.wait_for("firing", {"reconcile_off"})
        serve.kill()
        bills.begin_spot(SPOT[:3])
        bills.bring(1)
        run(["allocate"], folder)
        set_budget(120_000)
        serve.begin()
        serve.kill_often(KILLS // 4)
        outlets.wait_for("firing", {"cost_anomaly", "coverage_fell", "budget_forecast", "commitment_underused",
                                    "commitment_expires", "spot_interrupted"})
        outlets.wait_for("resolved", {"reconcile_off", "costs_missing"})
        serve.kill()
        # The provider corrects its bill, and whoever has no account is cv's. There are more spot nodes.
        bills.begin_spot(SPOT)
        bills.bring(1, "--confirm", is_unusual=False)
        configure(more="dimensions: {team: {from: [account], fallback: cv}}",
                  alerts=f"  commitments: [{{id: sp-1, ends: {day(-400)}}}]")
        run(["allocate"], folder)
        set_budget(50_000_000)
        serve.begin()
        serve.kill_often(KILLS // 4)
        outlets.wait_for("resolved", ALL)
        expect("budget_probable" not in outlets.rules("firing"), "one rule speaks of what is forecast")
        outlets.check(ALL)
    finally:
        serve.end()
        outlets.close()
    finish("cost_rules", folder, f"{outlets.summary()}, {KILLS // 4 * 4} kills more")


if __name__ == "__main__":
    main()
