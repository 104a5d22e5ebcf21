"""One advice of each kind, followed: February shows the waste, the text to apply is taken by the program
or the schema that it is for, March is billed as if it had been applied, and the ledger verifies what it
saved. Each kind has a cluster and a ledger of its own, with figures by hand.

kubectl patches and drains, slurmctld and sbatch take their options, Karpenter's and Kubernetes' schemas
their objects, the rules of mig-parted's reader its file. What is not installed is named and left out.
"""
import concurrent.futures
import csv
import datetime
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys

import yaml

from harness import ROOT, expect, expect_run, folder, report

cwd = folder()
cwd.chmod(0o755)  # jobs of Slurm run as their users
DAY = datetime.timedelta(days=1)
HOUR = datetime.timedelta(hours=1)
FEBRUARY = datetime.datetime(2026, 2, 1)
MARCH = datetime.datetime(2026, 3, 1)
APRIL = datetime.datetime(2026, 4, 1)
A100, L40S = "NVIDIA A100-SXM4-80GB", "NVIDIA L40S"
GIB = 1 << 30
HEAD = ("BilledCost,EffectiveCost,ListCost,ContractedCost,BillingCurrency,BillingPeriodStart,"
        "BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,ChargeClass,"
        "ChargeDescription,ChargeFrequency,BillingAccountId,InvoiceIssuerName,ServiceProviderName,"
        "ServiceCategory,ServiceName,ResourceId,PricingCategory,ListUnitPrice,PricingQuantity,PricingUnit,"
        "CommitmentDiscountId,CommitmentDiscountStatus")


def iso(at):
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


class Cluster:
    """What one kind's cluster has, and the import files of both months."""

    def __init__(self, name):
        self.name = name
        self.folder = cwd / name
        self.nodes = []
        self.gpus = []
        self.holdings = []
        self.jobs = []
        self.bills = {FEBRUARY: [HEAD], MARCH: [HEAD]}
        self.samples = []
        self.later = []  # holdings that are known only after the advice was accepted

    def node(self, node, begin=FEBRUARY, end=None, model=A100, gpus=1, kind="", pool=""):
        self.nodes.append(f"{node},{node},{kind},us-east-1,{pool},{model},{gpus},8,64,{iso(begin)},"
                          f"{iso(end) if end else ''}")
        for index in range(gpus):
            self.gpus.append(f"{node},GPU-{node}{index},{index},{model},,{iso(begin)},{iso(end) if end else ''}")

    def bill(self, node, month, price, hours=24, first=0, category="Standard", commitment=("", ""), days=31):
        """A line for each day of the month, so many hours at the price, from the hour `first` on."""
        after = MARCH if month == FEBRUARY else APRIL
        begin = month + first * HOUR
        after_days = min(after, month + days * DAY)
        while begin < after_days:
            end = begin + hours * HOUR
            cost = f"{price * hours:.6f}"
            self.bills[month].append(
                f"{cost},{cost},{cost},{cost},USD,{iso(month)},{iso(after)},{iso(begin)},{iso(end)},Usage,,a node,"
                f"Usage-Based,{self.name},Demo,Demo,Compute,Machines,{node},{category},{price},{hours},Hours,"
                f"{commitment[0]},{commitment[1]}")
            begin += DAY

    def pod(self, name, begin, end, where, space="ml", user="ana", more="", mig=False):
        """It still runs where the end is None."""
        app = name.rsplit("-", 1)[0]
        gpu, node = ("", where) if not where.startswith(("GPU-", "MIG-")) else (where, "")
        held = f"{iso(begin)},{iso(end) if end else ''},{'' if mig else gpu},{gpu if mig else ''},{node}"
        self.holdings.append(f"{space}/{name},{held},"
                             f"{1 if node else ''},{space},{user},{app},{more},")

    def use(self, gpu, node, begin, end, sm, dram=0.1, used_gib=8):
        self.samples.append((gpu, node, begin, end, sm, dram, used_gib))

    def files(self):
        parts = {
            "nodes": ["node,provider_id,instance_type,region,pool,gpu_model,gpu_count,vcpu,memory_gib,from,to", *self.nodes],
            "gpus": ["node,uuid,index,model,memory_mib,from,to", *self.gpus],
            "holdings": ["workload,begin,end,gpu,mig,node,devices,namespace,user,label:app,label:checkpointable,profile",
                         *self.holdings],
            "jobs": ["JobID|JobName|Partition|Account|User|State|Start|End|ElapsedRaw|NNodes|AllocCPUS|AllocTRES|"
                     "NodeList|TimelimitRaw", *self.jobs]}
        names = []
        for part, lines in parts.items():
            if len(lines) > 1:
                name = f"{self.name}-{part}.{'txt' if part == 'jobs' else 'csv'}"
                (self.folder / name).write_text("\n".join(lines) + "\n")
                if part == "holdings" and self.later:
                    (self.folder / f"{self.name}-later.csv").write_text("\n".join([lines[0], *self.later]) + "\n")
                names.append(name)
        if self.samples:
            name = f"{self.name}.prom"
            with open(self.folder / name, "w", encoding="ascii") as out:
                for metric, at in (("PROF_SM_ACTIVE", 4), ("PROF_DRAM_ACTIVE", 5)):
                    out.write(f"# TYPE DCGM_FI_{metric} gauge\n")
                    for sample in self.samples:
                        self.write(out, f"DCGM_FI_{metric}", sample, sample[at])
                for metric, value in (("FB_USED", lambda used: used * 1024), ("FB_FREE", lambda used: (80 - used) * 1024)):
                    out.write(f"# TYPE DCGM_FI_DEV_{metric} gauge\n")
                    for sample in self.samples:
                        self.write(out, f"DCGM_FI_DEV_{metric}", sample, value(sample[6]))
            names.append(name)
        return names

    @staticmethod
    def write(out, name, sample, value):
        gpu, node, begin, end = sample[:4]
        index = gpu[-1]
        while begin < end:
            stamp = int(begin.replace(tzinfo=datetime.timezone.utc).timestamp()) * 1000
            out.write(f'{name}{{gpu="{index}",UUID="{gpu}",modelName="{L40S if node == "r2" else A100}",Hostname="{node}"}} {value} {stamp}\n')
            begin += HOUR


def slurm_job(number, user, name, node, begin, end, gpus=1, limit=""):
    seconds = int((end - begin).total_seconds())
    return (f"{number}|{name}|gpu|nlp|{user}|COMPLETED|{begin.isoformat()}|{end.isoformat()}|{seconds}|1|8|"
            f"billing=8,cpu=8,gres/gpu={gpus},mem=32G,node=1|{node}|{limit}")


# Nobody held u2 in February; on 1 March it is gone: 240 a day, 7300 a month.
unneeded = Cluster("unneeded")
unneeded.node("u1", gpus=8)
unneeded.node("u2", gpus=8, end=MARCH)
for day in range(59):
    begin = FEBRUARY + day * DAY
    unneeded.pod(f"train-{day}", begin, begin + DAY, "u1")
for node, months in (("u1", (FEBRUARY, MARCH)), ("u2", (FEBRUARY,))):
    for month in months:
        unneeded.bill(node, month, 10)

# The same on a cluster of Slurm, whose text is another.
drained = Cluster("drained")
drained.node("n1", gpus=4)
drained.node("n2", gpus=2, end=MARCH)
for day in range(59):
    begin = FEBRUARY + day * DAY
    drained.jobs.append(slurm_job(5000 + day, "ana", "train", "n1", begin, begin + DAY))
for node, months in (("n1", (FEBRUARY, MARCH)), ("n2", (FEBRUARY,))):
    for month in months:
        drained.bill(node, month, 10)

# Jobs hold s1 for twelve hours of each day; from March on it runs for thirteen of them.
scaled = {}
for name, is_slurm in (("scaled", False), ("suspended", True)):
    cluster = scaled[name] = Cluster(name)
    cluster.node(f"{name}1", gpus=4, pool="gpu")
    for day in range(59):
        begin = FEBRUARY + day * DAY + 8 * HOUR
        if is_slurm:
            cluster.jobs.append(slurm_job(6000 + day, "ana", f"day{day}", f"{name}1", begin, begin + 12 * HOUR, 4))
        else:
            cluster.pod(f"day-{day}", begin, begin + 12 * HOUR, f"{name}1")
    cluster.bill(f"{name}1", FEBRUARY, 10)
    cluster.bill(f"{name}1", MARCH, 10, hours=13, first=8)

# Two nodes on demand at 10 all month; committed, they cost 6: 2 x 4 x 730 = 5840.
committed = Cluster("committed")
for node in ("c1", "c2"):
    committed.node(node, gpus=4, kind="box.four")
    for day in range(59):
        begin = FEBRUARY + day * DAY
        committed.jobs.append(slurm_job(7000 + 100 * (node == "c2") + day, "ana", "train", node, begin, begin + DAY, 4))
    committed.bill(node, FEBRUARY, 10)
    committed.bill(node, MARCH, 6, category="Committed", commitment=("ri-1", "Used"))

# A reservation that nothing used costs 5 an hour in February. It is sold on 1 March.
unused = Cluster("unused")
unused.node("x1", gpus=1)
for day in range(59):
    begin = FEBRUARY + day * DAY
    unused.jobs.append(slurm_job(8000 + day, "ana", "train", "x1", begin, begin + DAY))
unused.bill("x1", FEBRUARY, 10)
unused.bill("x1", MARCH, 10)
unused.bill("", FEBRUARY, 5, category="Committed", commitment=("ri-unused", "Unused"))

# Ana's notebook holds i1 all February, and uses it for ten days. In March it ends after ten days, and i1
# goes. From 2 to 29 March she uses it for 216 hours, which would have cost 6720 x 216 / 240 = 6048.
idle = Cluster("idle")
idle.node("i1", end=MARCH + 10 * DAY)
idle.node("i2")
idle.pod("notebook-0", FEBRUARY, MARCH, "GPU-i10")
idle.use("GPU-i10", "i1", FEBRUARY, FEBRUARY + 10 * DAY, 0.7)
idle.use("GPU-i10", "i1", FEBRUARY + 10 * DAY, MARCH, 0)
idle.pod("notebook-1", MARCH, MARCH + 10 * DAY, "GPU-i10")
idle.use("GPU-i10", "i1", MARCH, MARCH + 10 * DAY, 0.7)
idle.use("GPU-i20", "i2", FEBRUARY, APRIL, 0.9, 0.6, 60)
for day in range(59):
    idle.pod(f"train-{day}", FEBRUARY + day * DAY, FEBRUARY + (day + 1) * DAY, "GPU-i20", user="bo")
idle.bill("i1", FEBRUARY, 10)
idle.bill("i1", MARCH, 10, days=10)
for month in (FEBRUARY, MARCH):
    idle.bill("i2", month, 10)

# A service has done nothing since it started; it is stopped at noon of 1 March, and its node goes that day.
zombie = Cluster("zombie")
zombie.node("z1", end=MARCH + DAY)
zombie.node("z2")
zombie.pod("api-0", FEBRUARY, MARCH + 12 * HOUR, "GPU-z10")
zombie.later.append(zombie.holdings.pop())
zombie.pod("api-0", FEBRUARY, None, "GPU-z10")
zombie.use("GPU-z10", "z1", FEBRUARY, MARCH + 12 * HOUR, 0)
zombie.use("GPU-z20", "z2", FEBRUARY, APRIL, 0.9, 0.6, 60)
for day in range(59):
    zombie.pod(f"train-{day}", FEBRUARY + day * DAY, FEBRUARY + (day + 1) * DAY, "GPU-z20", user="bo")
zombie.bill("z1", FEBRUARY, 10)
zombie.bill("z1", MARCH, 10, days=1)
for month in (FEBRUARY, MARCH):
    zombie.bill("z2", month, 10)

# Three replicas are 55 % busy from 8 to 20 and 4 % at night. From March on, two of them run from 7 to 21 and
# their nodes from 7 to 22, and the third does the night's work: 2 x 9 x 10 less a day, 5475 a month.
autoscaled = Cluster("autoscaled")
for number in range(3):
    node = f"a{number}"
    autoscaled.node(node)
    autoscaled.pod(f"serve-{number}", FEBRUARY, MARCH, f"GPU-{node}0", user="eva")
    autoscaled.bill(node, FEBRUARY, 10)
    autoscaled.bill(node, MARCH, 10, **({} if number == 0 else {"hours": 15, "first": 7}))
    if number == 0:
        autoscaled.pod("serve-3", MARCH, APRIL, "GPU-a00", user="eva")
    for day in range(59):
        at = FEBRUARY + day * DAY
        is_march = at >= MARCH
        for hour in range(24):
            is_day = 8 <= hour < 20
            is_held = number == 0 or not is_march or 7 <= hour < 21
            sm = 0.55 if is_day else 0.12 if is_march and not 7 <= hour < 21 else 0.04
            if is_held:
                autoscaled.use(f"GPU-{node}0", node, at + hour * HOUR, at + (hour + 1) * HOUR, sm, 0.1, 50)
        if is_march and number > 0:
            autoscaled.pod(f"serve-{number * 100 + day}", at + 7 * HOUR, at + 21 * HOUR, f"GPU-{node}0", user="eva")

# An A100 at 4.00 is 35 % busy; from March on the same work runs on an L40S at 1.90.
sized = Cluster("sized")
sized.node("r1", kind="box.a100", end=MARCH)
sized.node("r2", kind="box.l40s", begin=MARCH, model=L40S)
for month, after, node in ((FEBRUARY, MARCH, "r1"), (MARCH, APRIL, "r2")):
    day = month
    while day < after:
        sized.pod(f"api-{day:%m%d}", day, day + DAY, f"GPU-{node}0")
        day += DAY
sized.use("GPU-r10", "r1", FEBRUARY, MARCH, 0.35, 0.25, 18)
sized.use("GPU-r20", "r2", MARCH, APRIL, 0.3, 0.59, 18)
sized.bill("r1", FEBRUARY, 4)
sized.bill("r2", MARCH, 1.9)

# Three small services on three A100s; from March on they are instances of one of them.
sliced = Cluster("sliced")
for number in range(3):
    node = f"m{number}"
    sliced.node(node, end=MARCH, kind="box.mig")
    sliced.bill(node, FEBRUARY, 10)
    sliced.use(f"GPU-{node}0", node, FEBRUARY, MARCH, 0.1, 0.05, 6)
    sliced.pod(f"service{number}-0", FEBRUARY, MARCH, f"GPU-{node}0", user=f"u{number}")
sliced.nodes.append(f"m0,m0,box.mig,us-east-1,,{A100},1,8,64,{iso(MARCH)},")
sliced.gpus.append(f"m0,GPU-m00,0,{A100},,{iso(MARCH)},")
sliced.bill("m0", MARCH, 10)
for number in range(3):
    sliced.holdings.append(f"ml/service{number}-1,{iso(MARCH)},{iso(APRIL)},,,m0,1,ml,u{number},service{number},,1g.10gb")

# Work that saves itself, on demand at 10; on spot at 4 each hour of it takes 1.2586.
spot = Cluster("spot")
spot.node("p1", gpus=4, kind="box.spot", end=MARCH)
spot.node("p2", gpus=4, kind="box.spot", begin=MARCH)
for month, after, node in ((FEBRUARY, MARCH, "p1"), (MARCH, APRIL, "p2")):
    day = month
    while day < after:
        spot.holdings.append(f"ml/train-{day:%m%d},{iso(day)},{iso(day + DAY)},,,{node},4,ml,ana,train,true,")
        day += DAY
spot.bill("p1", FEBRUARY, 10)
spot.bill("p2", MARCH, 5.0344, category="Dynamic")

# Jobs of three hours ask for ten days. Asking for less takes nothing off the bill.
limited = Cluster("limited")
limited.node("l1", gpus=8)
for day in range(59):
    begin = FEBRUARY + day * DAY
    limited.jobs.append(slurm_job(9000 + day, "ana", "sweep", "l1", begin, begin + 3 * HOUR, 8,
                                  14400 if begin < MARCH else 270))
for month in (FEBRUARY, MARCH):
    limited.bill("l1", month, 10)

PRICES = (
    "provider,region,instance_type,option,from,per_hour,currency,gpu_model,gpu_count,vcpu,memory_gib\n"
    "aws,us-east-1,box.four,on_demand,2026-01-01,10,USD,A100-SXM4-80GB,4,8,64\n"
    "aws,us-east-1,box.four,committed_1y,2026-01-01,6,USD,A100-SXM4-80GB,4,8,64\n"
    "first,us-east-1,box.a100,on_demand,2026-01-01,4,USD,A100-SXM4-80GB,1,8,64\n"
    "first,us-east-1,box.l40s,on_demand,2026-01-01,1.9,USD,L40S,1,8,64\n"
    "aws,us-east-1,box.spot,on_demand,2026-01-01,10,USD,A100-SXM4-80GB,4,8,64\n"
    "aws,us-east-1,box.spot,spot,2026-01-01,4,USD,A100-SXM4-80GB,4,8,64\n")
POLICY = "version: 1\nname: hourly\nusage: {interval: 1h, hold: 1}\n"


def rows(cluster, *arguments):
    out, _ = expect_run(["advise", *arguments, "--format", "csv"], cluster.folder)
    return list(csv.DictReader(io.StringIO(out)))


# Who takes a text. Each returns whether it was taken; None: the program is not here.

def words_of(text):
    return [line for line in text.splitlines() if line and not line.startswith("#")]


objects = []  # files that Kubernetes' and Karpenter's schemas have to take


def kept_for_schema(text):
    objects.append(cwd / f"object_{len(objects)}.yaml")
    objects[-1].write_text(text)
    return True


def hold_to_schemas():
    """All at once, since the compiler reads the schemas anew for each call."""
    validate = pathlib.Path(ROOT) / "tests/deploy/validate_texts.mjs"
    if not shutil.which("node"):
        print("not checked: node is not installed")
        return
    done = subprocess.run(["node", validate, ROOT, *objects], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        print("not checked:", done.stdout.strip())
        return
    expect(done.returncode == 0 and len(objects) >= 2, f"{len(objects)} objects: {done.stdout}{done.stderr}")


def patched(text, base, kind):
    """The object after kubectl has applied the text to it, which the schema then has to take."""
    if not shutil.which("kubectl"):
        print("not checked: kubectl is not installed")
        return None
    (cwd / "base.yaml").write_text(yaml.safe_dump(base))
    (cwd / "patch.yaml").write_text(text)
    done = subprocess.run(["kubectl", "patch", "--local", "-f", "base.yaml", "--type", kind, "--patch-file", "patch.yaml",
                           "-o", "yaml"], cwd=cwd, capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"kubectl patch: {done.stderr}")
    # Every key of the patch is in the object: a key that is not known would be gone.
    after = yaml.safe_load(done.stdout)

    def holds(has, wanted):
        if isinstance(wanted, dict):
            return isinstance(has, dict) and all(holds(has.get(key), value) for key, value in wanted.items())
        return has == wanted
    expect(holds(after, yaml.safe_load(text)), f"the patch is not in the object:\n{text}\n{done.stdout}")
    after.get("metadata", {}).pop("creationTimestamp", None)
    after.pop("status", None)
    after.get("spec", {}).get("template", {}).get("metadata", {}).pop("creationTimestamp", None)
    return kept_for_schema(yaml.safe_dump(after))


def deployment_patch(text):
    return patched(text, {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "api", "namespace": "ml"},
        "spec": {"selector": {"matchLabels": {"app": "api"}},
                 "template": {"metadata": {"labels": {"app": "api"}},
                              "spec": {"containers": [{"name": "api", "image": "api:1"}]}}}}, "strategic")


def pool_patch(text):
    return patched(text, {
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "gpu"},
        "spec": {"template": {"spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}]}}}},
        "merge")


def kubernetes_object(text):
    return kept_for_schema(text)


def kubectl_commands(text):
    """kubectl knows the commands and their flags: without a server it gets as far as asking one."""
    if not shutil.which("kubectl"):
        return None
    lines = words_of(text)
    expect(len(lines) in (1, 2) and all(line.startswith("kubectl ") for line in lines), text)
    for line in lines:
        done = subprocess.run(["bash", "-c", line + " --server=http://127.0.0.1:1 --request-timeout=1s"],
                              capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin", "HOME": str(cwd)})
        refused = "127.0.0.1:1" in done.stderr and "unknown flag" not in done.stderr
        expect(refused, f"{line}: {done.stderr}")
    return True


def mig_parted(text):
    """By the rules of mig-parted's reader: github.com/NVIDIA/mig-parted, api/spec/v1/spec.go."""
    spec = yaml.safe_load(text)
    expect(set(spec) == {"version", "mig-configs"} and spec["version"] == "v1" and spec["mig-configs"], text)
    for name, parts in spec["mig-configs"].items():
        expect(re.fullmatch(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?", name) and parts, text)
        for part in parts:
            expect({"devices", "mig-enabled"} <= set(part) <= {"devices", "mig-enabled", "mig-devices", "device-filter"}, text)
            expect(part["devices"] == "all" or all(isinstance(each, int) for each in part["devices"]), text)
            expect(isinstance(part["mig-enabled"], bool) and part["mig-enabled"] == bool(part.get("mig-devices")), text)
            for profile, count in part.get("mig-devices", {}).items():
                expect(re.fullmatch(r"(\d+c\.)?\d+g\.\d+gb(\+(me|gfx|me\.all))*", profile) and count > 0, text)
    return True


def jupyter(text):
    class Settings(dict):
        def __getattr__(self, name):
            return self.setdefault(name, Settings())

        def __setattr__(self, name, value):
            self[name] = value
    settings = Settings()
    exec(compile(text, "jupyter_server_config.py", "exec"), {"c": settings})  # as Jupyter reads it
    expect(settings == {"MappingKernelManager": {"cull_idle_timeout": 3600, "cull_interval": 300},
                        "ServerApp": {"shutdown_no_activity_timeout": 3600}}, settings)
    return True


def purchase(text):
    (line,) = csv.DictReader(io.StringIO(text))
    expect(line == {"instance_type": "box.four", "region": "us-east-1", "units": "2", "years": "1", "payment": "monthly"},
           line)
    return True


def in_words(text):
    return bool(text.strip())


def for_slurm(text):
    slurm_texts.append(text)
    return True


slurm_texts = []
KINDS = [  # cluster, kind, who takes the text, what March saves a month
    (unneeded, "unneeded-nodes", kubectl_commands, "7300"),
    (drained, "unneeded-nodes", for_slurm, "7300"),
    (scaled["scaled"], "scale-down", pool_patch, "3345.83"),
    (scaled["suspended"], "scale-down", for_slurm, "3345.83"),
    (committed, "commitment", purchase, "5840"),
    (unused, "unused-commitment", in_words, "3650"),
    (idle, "idle", jupyter, "4223.57"),
    (zombie, "zombie", kubectl_commands, "7300"),
    (autoscaled, "autoscaling", kubernetes_object, "5475"),
    (sized, "right-size", deployment_patch, "1533"),
    (sliced, "mig-layout", mig_parted, "14600"),
    (spot, "spot", kubernetes_object, "3624.89"),
    (limited, "time-limit", for_slurm, "0"),
]
MONTH = ["--month", "2026-02", "--prices-as-of", "2026-03-01"]


def fill(cluster):
    cluster.folder.mkdir()
    (cluster.folder / "prices.csv").write_text(PRICES)
    (cluster.folder / "policy.yaml").write_text(POLICY)
    (cluster.folder / "pennyweight.yaml").write_text("prices: {override: prices.csv}\npolicy: policy.yaml\n")
    files = cluster.files()
    for month, lines in cluster.bills.items():
        name = f"{cluster.name}-{month:%m}.csv"
        (cluster.folder / name).write_text("\n".join(lines) + "\n")
        files.append(name)
    expect_run(["import", "--cluster", cluster.name, *files], cluster.folder)
    expect_run(["allocate"], cluster.folder)


def follow(cluster, kind, realised):
    """To its verified saving; the text to apply."""
    fill(cluster)
    found = [row for row in rows(cluster, *MONTH) if row["kind"] == kind]
    expect(len(found) == 1, f"{cluster.name}: one {kind}: {found}")
    if len(found) != 1:
        return ""
    advice = found[0]["id"]
    text, _ = expect_run(["advise", "show", advice, "--apply", *MONTH], cluster.folder)
    expect_run(["advise", "accept", advice, "--by", "ana", *MONTH], cluster.folder)
    if cluster.later:
        expect_run(["import", "--cluster", cluster.name, f"{cluster.name}-later.csv"], cluster.folder)
        expect_run(["allocate"], cluster.folder)
    expect_run(["advise", "done", advice, "--on", "2026-03-01", *MONTH], cluster.folder)
    expect_run(["advise", "verify", advice, *MONTH], cluster.folder)
    got = {row["id"]: row for row in rows(cluster, "decided")}.get(advice, {})
    expect(got.get("state") == "verified", f"{kind} of {cluster.name}: {got}")
    expect(abs(float(got.get("realised") or "nan") - float(realised)) < 0.01,
           f"{kind} of {cluster.name}: realised {got.get('realised')}, want {realised}; expected was {found[0]['expected']}")
    print(f"{kind:18} {cluster.name:10} expected {found[0]['expected']:>22} realised {got.get('realised')}")
    return text


with concurrent.futures.ThreadPoolExecutor(4) as pool:
    texts = list(pool.map(lambda each: follow(each[0], each[1], each[3]), KINDS))
for (cluster, kind, taken, _), text in zip(KINDS, texts):
    expect(taken(text) is not False, f"{kind} of {cluster.name}: nobody takes\n{text}")
hold_to_schemas()

# A real Slurm takes the commands and the options of its texts.
sys.path.insert(0, str(pathlib.Path(ROOT) / "tests/real/slurm"))
import cluster as slurm_cluster  # noqa: E402
reason = slurm_cluster.why_not()
if reason:
    print("not checked with slurmctld:", reason)
else:
    settings = "\n".join(line for text in slurm_texts if "SuspendTime" in text for line in words_of(text))
    programs = "\nSuspendProgram=/bin/true\nResumeProgram=/bin/true\nSuspendExcNodes=n1,n2\n"
    with slurm_cluster.Cluster(extra_conf=settings + programs) as slurm:
        shown = slurm.run("scontrol", "show", "config")
        expect(re.search(r"SuspendTime\s*= 3600 sec", shown), "SuspendTime of slurm.conf")
        expect(re.search(r"ResumeTimeout\s*= 1200 sec", shown), "ResumeTimeout of slurm.conf")
        for text in slurm_texts:
            for line in words_of(text):
                if line.startswith("scontrol "):
                    slurm.run("bash", "-c", line)
                    expect("drain" in slurm.run("sinfo", "--noheader", "--nodes=n2", "--format=%t"), "n2 is drained")
            if "#SBATCH" in text:
                script = cwd / "job.sh"
                script.write_text("#!/bin/sh\n" + text + "sleep 60\n")
                script.chmod(0o755)
                number = slurm.run("sbatch", "--parsable", "--account=proj-llm", "--output=/dev/null", "--hold",
                                   script, user="games").strip()
                job = slurm.run("scontrol", "show", "job", number)
                limit = re.search(r"--time=(\S+)", text)
                expect(not limit or f"TimeLimit={limit[1]}" in job, f"{text}{job}")
                slurm.run("scancel", number)
report("cli/advice_followed")
