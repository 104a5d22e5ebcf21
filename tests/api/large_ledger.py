"""A company's ledger: three clusters, six months, two currencies (one cluster is rented in euros), and as many teams as
are asked for, of which few spend much. The same from the same number."""
import csv
import datetime
import random

import serving
import two_currencies

CLUSTERS = ("lab", "hpc", "edge")  # edge is billed in euros
NODES = 8  # of each
MONTHS = [datetime.date(2026, month, 1) for month in range(1, 7)]
JOBS = 700  # a month
CONFIG = two_currencies.CONFIG.replace(
    "clusters: [{name: lab, kind: slurm, time_zone: UTC}]",
    "clusters: [" + ", ".join(f"{{name: {name}, kind: slurm, time_zone: UTC}}" for name in CLUSTERS) + "]").replace("filter: team=nlp, amount: 9000 USD", "filter: [team=team-000, currency=USD], amount: 9000 USD").replace(
    "{name: everything,", "{name: everything, filter: currency=USD,").replace("team=nlp", "team=team-000")
RATES = two_currencies.RATES + "2026-04-30,EUR,USD,1.09,ecb\n2026-05-29,EUR,USD,1.11,ecb\n2026-06-30,EUR,USD,1.1,ecb\n"
HEAD = "JobID|JobName|Partition|Account|User|State|Start|End|ElapsedRaw|NNodes|AllocCPUS|AllocTRES|NodeList"


def end_of(month):
    return (month.replace(day=28) + datetime.timedelta(days=4)).replace(day=1) - datetime.timedelta(days=1)


def nodes_csv(cluster):
    place = CLUSTERS.index(cluster)
    rows = ["cluster,node,provider_id,instance_type,region,pool,gpu_model,gpu_count,vcpu,memory_gib,from,to"]
    for i in range(NODES):
        rows.append(f"{cluster},{cluster}-gpu-{i + 1:02},i-{place}{i:02}00000000000,p4d.24xlarge,us-east-1,train,A100-SXM4-40GB,8,96,1152,2026-01-01T00:00:00Z,")
    return "\n".join(rows) + "\n"


def jobs_of(cluster, teams, chance, first_id):
    rows = [HEAD]
    number = first_id
    for month in MONTHS:
        seconds = int((end_of(month) - month).total_seconds())
        for _ in range(JOBS // len(CLUSTERS)):
            team = min(int(chance.paretovariate(0.7)) - 1, teams - 1) if chance.random() < 0.6 else chance.randrange(teams)
            begin = datetime.datetime.combine(month, datetime.time()) + datetime.timedelta(seconds=chance.randrange(seconds))
            lasts = int(chance.lognormvariate(9, 1.3)) % 200_000 + 60
            gpus = chance.choice((1, 1, 1, 2, 2, 4, 8))
            end = begin + datetime.timedelta(seconds=lasts)
            rows.append("|".join((str(number), chance.choice(("train", "eval", "sweep", "serve")), "train", f"team-{team:03}", f"user-{team % 150:03}-{chance.randrange(3)}",
                                  chance.choice(("COMPLETED",) * 8 + ("FAILED", "TIMEOUT")), begin.isoformat(), end.isoformat(), str(lasts), "1", str(6 * gpus),
                                  f"billing={6 * gpus},cpu={6 * gpus},gres/gpu={gpus},mem={24 * gpus}G,node=1", f"{cluster}-gpu-{chance.randrange(NODES) + 1:02}")))
            number += 1
    return "\n".join(rows) + "\n"


def in_euros(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["BillingCurrency"], row["BillingAccountId"] = "EUR", "eu-1"
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def maker(teams):
    def make(folder):
        chance = random.Random(teams)
        (folder / "rates.csv").write_text(RATES)
        (folder / "card.csv").write_text(serving.PRICES)
        (folder / "pennyweight.yaml").write_text(CONFIG)
        for at, cluster in enumerate(CLUSTERS):
            (folder / f"{cluster}-nodes.csv").write_text(nodes_csv(cluster))
            (folder / f"{cluster}.txt").write_text(jobs_of(cluster, teams, chance, 1_000_000 * (at + 1)))
            serving.run(["import", "--cluster", cluster, f"{cluster}-nodes.csv", f"{cluster}.txt"], folder)
            for month in MONTHS:
                bill = f"{cluster}-{month:%Y-%m}.csv"
                serving.run(["generate", "bill", "--nodes", f"{cluster}-nodes.csv", "--from", str(month), "--to", str(end_of(month)), "--prices-as-of", "2026-07-20",
                             "--seed", str(at + 1), "--out", bill], folder)
                if cluster == "edge":
                    in_euros(folder / bill)
                else:
                    rename_account(folder / bill, cluster)
                serving.run(["import", "--cluster", cluster, bill], folder)
        (folder / "bad.txt").write_text(f"{HEAD}\n9901|x|train|team-000|user-000-0|COMPLETED|yesterday|2026-03-02T00:00:00|1|1|1|cpu=1|lab-gpu-01\n")
        serving.run(["import", "--cluster", "lab", "bad.txt"], folder)
        serving.run(["allocate"], folder)
        serving.run(["close", "2026-01", "--by", "fixture", "--reason", "January is final"], folder)
        serving.run(["invoice", "--month", "2026-01", "--issue"], folder)
    return make


def rename_account(path, cluster):
    """Each cluster is rented by an account of its own."""
    text = path.read_text()
    with open(path, newline="") as file:
        account = next(csv.DictReader(file))["BillingAccountId"]
    path.write_text(text.replace(account, account[:-1] + str(CLUSTERS.index(cluster))))


def server(teams):
    """`pennyweight serve` on it."""
    serving.make_ledger = maker(teams)
    serving.CACHE = serving.CACHE / f"large-{teams}"
    return serving.Server(CONFIG)
