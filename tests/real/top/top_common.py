"""What the tests of the live view share: GPUs whose usage is set by hand, and what `top` shows."""
import csv
import dataclasses
import datetime
import decimal
import io
import json
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import fleet_exporter  # noqa: E402
import harness  # noqa: E402
import ledger  # noqa: E402

Decimal = decimal.Decimal


@dataclasses.dataclass
class Card:
    """A GPU of a stand-in for dcgm-exporter. `pods` are (namespace, pod) that share it."""
    node: str
    index: int
    model: str = "NVIDIA A100-SXM4-80GB"
    busy: float = 0.25
    pods: tuple = ()

    @property
    def uuid(self):
        return f"GPU-{abs(hash_of(self.node)):08x}-0000-0000-0000-{self.index:012d}"


def hash_of(text):
    value = 5381
    for letter in text.encode():
        value = (value * 33 + letter) % 2**32
    return value


def page(cards):
    """One node's /metrics, as dcgm-exporter 3 and 4 write it: a copy for each pod on a GPU."""
    lines = []
    for name, value_of in (("DCGM_FI_PROF_GR_ENGINE_ACTIVE", lambda card: f"{card.busy:f}"),
                           ("DCGM_FI_DEV_GPU_UTIL", lambda card: round(card.busy * 100)),
                           ("DCGM_FI_DEV_FB_USED", lambda card: 20_000),
                           ("DCGM_FI_DEV_FB_FREE", lambda card: 61_000),
                           ("DCGM_FI_DEV_POWER_USAGE", lambda card: 250)):
        lines.append(f"# TYPE {name} gauge")
        for card in cards:
            labels = (f'gpu="{card.index}",UUID="{card.uuid}",device="nvidia{card.index}",'
                      f'modelName="{card.model}",Hostname="{card.node}"')
            for space, pod in card.pods or ((None, None),):
                of_pod = f',container="main",namespace="{space}",pod="{pod}"' if pod else ""
                lines.append(f"{name}{{{labels}{of_pod}}} {value_of(card)}")
    return "\n".join(lines) + "\n"


def exporter(cards):
    return fleet_exporter.NodeExporter(("127.0.0.1", 0), lambda _: page(cards))


class Serve(harness.Program):
    """`pennyweight serve` as an operator runs it, except for the length of its buckets: a GPU is written
    to the ledger once it was observed for two of them, which would be two minutes."""

    def __init__(self, binary, cwd, cluster, more, env=None, name="pennyweight"):
        self.binary = binary
        self.port = harness.free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.ledger = cwd / "ledger.duckdb"
        self.config = cwd / "pennyweight.yaml"
        self.config.write_text(
            f"store: {{path: {self.ledger}}}\n"
            f"serve: {{listen: '127.0.0.1:{self.port}', cluster: {cluster}, "
            "resolution: 10s, flush_every: 10s, trust_loopback: true}\n" + more)
        super().__init__(name, [binary, "--config", self.config, "serve"], cwd,
                         ready=self.url + "/readyz", env=env)

    def verb(self, *arguments, check=True):
        done = subprocess.run([self.binary, "--config", str(self.config), *arguments],
                              capture_output=True, text=True, timeout=120)
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(arguments)}: {done.returncode}: {done.stderr}")
        return done.stdout

    def top(self, *arguments):
        """The table that `top` shows."""
        return json.loads(self.verb("top", "--limit=0", "--format=json", *arguments))[0]

    def api(self, **query):
        status, text = harness.get(self.url + "/api/v1/top", **query)
        return json.loads(text)[0] if status == 200 else None

    def row(self, workload, *arguments):
        return next((row for row in self.top(*arguments)["rows"] if row["workload"] == workload),
                    None)

    def own(self):
        return harness.metrics(self.url + "/metrics")


    def knows_cards(self, count):
        """Whether so many were written to the ledger."""
        counted = 0
        for line in self.log.read_text().splitlines():
            counted += json.loads(line).get("gpus", 0) if line.startswith("{") else 0
        return counted >= count

    def later(self, *arguments):
        """A verb run tomorrow: today is priced when it is over."""
        done = subprocess.run(["faketime", "-f", "+26h", self.binary, "--config", str(self.config),
                               *arguments], capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(arguments)}: {done.returncode}: {done.stderr}")
        return done.stdout


def amount(text):
    return None if text is None else Decimal(text)


def seconds_until(what, condition, begun, patience=60):
    """How long after `begun` (Unix seconds) it holds; a failure where that is beyond `patience`."""
    answer = harness.wait_until(what, condition, patience + begun - time.time(), pause=0.25)
    took = time.time() - begun
    if answer:
        harness.say(f"{what}: after {took:.1f} s")
    return answer, took


def adds_up(table, price):
    """The rows' cost of an hour is the total, and that is what the nodes cost."""
    costs = [amount(row["cost_per_hour"]) or 0 for row in table["rows"]]
    total = amount(table["total"]["cost_per_hour"])
    return sum(costs) == total == Decimal(price)


# Each order puts the largest first; the unallocated row is above them all.
_KEYS = {"cost": "cost_per_hour", "today": "cost_today", "idle": "idle_per_hour", "gpus": "gpus",
         "busy": "busy"}


def expect_sorted(serve):
    for order, column in _KEYS.items():
        rows = [row for row in serve.top("--sort", order)["rows"] if row["workload"] != "(nobody)"]
        values = [-1 if row[column] is None else Decimal(row[column]) for row in rows]
        harness.expect(values == sorted(values, reverse=True), f"--sort {order}: {values}")
    rows = serve.top("--sort", "since")["rows"]
    values = [seconds_of(row["since"]) for row in rows if row["workload"] != "(nobody)"]
    harness.expect(values == sorted(values, reverse=True), f"--sort since: {values}")
    rows = serve.top("--sort", "workload")["rows"]
    names = [(row.get("cluster"), row["workload"]) for row in rows
             if row["workload"] != "(nobody)"]
    harness.expect(names == sorted(names), f"--sort workload: {names}")


def holdings(serve, sql_tool, workload):
    """What the ledger has of a workload once `serve` has ended, as the store reads it: the ended
    fact wins, even where its second is before the millisecond of the last reading."""
    return ledger.table(sql_tool, serve.ledger,
                        "SELECT * FROM holdings WHERE workload = "
                        f"'{workload}' ORDER BY ended, held_to")


def seconds_of(text):
    """A time of the ledger, as Unix seconds."""
    moment = datetime.datetime.fromisoformat(text.replace("Z", "").split("+")[0])
    return moment.replace(tzinfo=datetime.timezone.utc).timestamp()


def csv_rows(text):
    return list(csv.DictReader(io.StringIO(text)))
