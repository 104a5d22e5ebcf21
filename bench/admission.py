"""How fast the admission webhook answers at a given rate, and what it answers while it is killed and its certificate is
replaced.

usage: admission.py PENNYWEIGHT [--rate 500] [--seconds 60] [--connections 16] [--calm]

Reviews, recorded ones of tests/data/admission and generated ones of ten kinds, are sent over TLS at their times, whether or
not earlier ones have been answered, so that a delay counts for all that wait for it. Each connection is closed after 500
reviews. In the first part nothing happens. In the second, which `--calm` leaves out, `serve` is killed (SIGKILL) and started
again after a third of the time, and its certificate is replaced at a half and at three quarters. What each review must be
answered is known beforehand. Prints percentiles from the time at which a review was due, and what `serve` spent.
"""
import argparse
import asyncio
import json
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PRICES = """provider,region,instance_type,option,from,per_hour,currency,gpu_model,gpu_count,vcpu,memory_gib
own,,box,on_demand,2026-01-01,40,USD,H100-SXM5-80GB,8,100,1000
own,,(cpu),on_demand,2026-01-01,0.04,USD,,,,
own,,(memory_gib),on_demand,2026-01-01,0.004,USD,,,,
"""
CONFIG = """store: {path: ledger.duckdb}
prices: {override: prices.csv}
serve: {listen: 127.0.0.1:0, trust_loopback: true}
guardrails:
  pricing: {gpu_models: {default: H100-SXM5-80GB}}
  admission: {listen: 127.0.0.1:PORT, cert_file: tls.crt, key_file: tls.key}
  rules:
  - {name: owner, when: {kind: "*", label_missing: [team]}, reason: who pays must be known}
  - {name: big, when: {gpus_above: 16}}
  - {name: dear, when: {per_hour_above: 1000000 USD}}
  - {name: long, mode: audit, when: {time_above: 24h}}
"""
PATIENCE_S = 60
REVIEWS_A_CONNECTION = 500


def certificate(folder, name):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", "new.key", "-out", "new.crt", "-days", "2", "-subj", f"/CN={name}",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], cwd=folder, check=True, capture_output=True)
    with open(folder / "ca.crt", "ab") as bundle:  # as a caBundle holds both while a certificate is replaced
        bundle.write((folder / "new.crt").read_bytes())
    os.replace(folder / "new.key", folder / "tls.key")
    os.replace(folder / "new.crt", folder / "tls.crt")


class Serve:
    def __init__(self, binary, folder):
        self.log = folder / f"serve-{time.monotonic_ns()}.log"
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen([binary, "--config", "pennyweight.yaml", "serve"], cwd=folder, stderr=out, stdout=out)
        self.port = None

    async def ready(self):
        end = time.monotonic() + PATIENCE_S
        while self.port is None:
            if time.monotonic() > end or self.process.poll() is not None:
                raise SystemExit("serve does not start:\n" + self.log.read_text())
            for line in self.log.read_text().splitlines():
                event = json.loads(line) if line.startswith("{") and line.endswith("}") else {}
                if event.get("event") == "admission":
                    self.port = int(event["address"].rsplit(":", 1)[1])
            await asyncio.sleep(0.02)

    def spent_s(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def made_objects():
    """(object, whether it is admitted) of the kinds that state their pods."""
    made = []
    for gpus, replicas, labels in [(1, 1, {"team": "nlp"}), (8, 2, {"team": "nlp"}), (8, 3, {"team": "nlp"}), (1, 1, {})]:
        def template():
            return {"metadata": {"labels": labels}, "spec": {"restartPolicy": "Never", "containers": [
                {"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": str(gpus), "cpu": "4", "memory": "8Gi"}}}]}}
        meta = {"name": "w", "labels": labels}
        is_good = bool(labels) and gpus * replicas <= 16
        for kind, version, spec in [
                ("Deployment", "apps/v1", {"replicas": replicas, "template": template()}),
                ("StatefulSet", "apps/v1", {"replicas": replicas, "template": template()}),
                ("Job", "batch/v1", {"parallelism": replicas, "template": template()}),
                ("CronJob", "batch/v1", {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"parallelism": replicas, "template": template()}}}),
                ("JobSet", "jobset.x-k8s.io/v1alpha2", {"replicatedJobs": [{"name": "a", "replicas": replicas, "template": {"spec": {"template": template()}}}]}),
                ("PyTorchJob", "kubeflow.org/v1", {"pytorchReplicaSpecs": {"Worker": {"replicas": replicas, "template": template()}}}),
                ("MPIJob", "kubeflow.org/v1", {"mpiReplicaSpecs": {"Worker": {"replicas": replicas, "template": template()}}}),
                ("Job", "batch.volcano.sh/v1alpha1", {"tasks": [{"name": "t", "replicas": replicas, "template": template()}]}),
                ("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", {"replicas": 1, "leaderWorkerTemplate": {"size": replicas, "workerTemplate": template()}})]:
            made.append(({"apiVersion": version, "kind": kind, "metadata": meta, "spec": spec}, is_good))
        if replicas == 1:
            made.append(({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": template()["spec"]}, is_good))
    return made


def reviews():
    """(path, body, whether it is admitted), bodies with the place of a new uid."""
    asked = []
    for made, is_good in made_objects():
        for name in ("/validate", "/mutate"):
            asked.append((name, {"uid": "UID", "kind": {"group": "", "version": "v1", "kind": made["kind"]}, "operation": "CREATE",
                                 "namespace": "ml", "name": "w", "userInfo": {"username": "ana"}, "object": made,
                                 "oldObject": None, "dryRun": False}, is_good or name == "/mutate"))
    for path in sorted((ROOT / "tests" / "data" / "admission").glob("*.json")):
        # Without a label of a team, so that `validate` refuses it.
        asked += [(name, json.loads(path.read_text()) | {"uid": "UID"}, name == "/mutate") for name in ("/validate", "/mutate")]
    return [(name, json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}), is_good)
            for name, request, is_good in asked]


class Load:
    def __init__(self, folder, port, connections):
        self.folder, self.port, self.connections = folder, port, connections
        self.reviews = reviews()

    def trusted(self):
        return ssl.create_default_context(cafile=str(self.folder / "ca.crt"))

    async def run(self, rate, seconds):
        """Latencies in ms of those that were answered, and how many were answered wrongly or not at all."""
        self.queue, self.late_ms, self.wrong, self.lost = asyncio.Queue(), [], [], 0
        workers = [asyncio.create_task(self.work()) for _ in range(self.connections)]
        begin = time.monotonic() + 0.5
        for i in range(int(rate * seconds)):
            due = begin + i / rate
            wait = due - time.monotonic()
            if wait > 0.001:
                await asyncio.sleep(wait)
            self.queue.put_nowait((i, due))
        await self.queue.join()
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        return self

    async def work(self):
        stream, sent = None, 0
        while True:
            number, due = await self.queue.get()
            try:
                if stream is None or sent >= REVIEWS_A_CONNECTION:
                    if stream:
                        stream[1].close()
                    stream, sent = await asyncio.open_connection("localhost", self.port, ssl=self.trusted()), 0
                await self.ask(stream, number, due)
                sent += 1
            except (OSError, ssl.SSLError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                self.lost += 1
                stream = None
            except (IndexError, ValueError) as error:  # no length, no JSON
                self.wrong.append(f"no answer to a review: {error}")
                stream = None
            finally:
                self.queue.task_done()

    async def ask(self, stream, number, due):
        name, text, is_good = self.reviews[number % len(self.reviews)]
        uid = f"u-{number}"
        body = text.replace('"UID"', f'"{uid}"').encode()
        reader, writer = stream
        writer.write(f"POST {name} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        answer = await reader.readexactly(int(head.split("content-length:")[1].split("\r\n")[0]))
        self.late_ms.append((time.monotonic() - due) * 1000)
        said = json.loads(answer).get("response", {})
        if not head.startswith("http/1.1 200") or said.get("uid") != uid or said.get("allowed") != is_good:
            self.wrong.append(f"{name} {text[:200]}: {head[:40]} {answer[:300]}")


def percentile(values, permille):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * permille // 1000)] if ordered else float("nan")


def tell(what, load, seconds, spent_s):
    late = load.late_ms
    print(f"{what}: {len(late)} answered in {seconds:.0f} s, {len(load.wrong)} wrong, {load.lost} unanswered; "
          f"p50 {percentile(late, 500):.2f} ms, p90 {percentile(late, 900):.2f}, p99 {percentile(late, 990):.2f}, "
          f"p99.9 {percentile(late, 999):.2f}, most {max(late, default=0):.1f}"
          + (f"; {spent_s * 1000 / max(len(late), 1):.3f} ms of processor time a review" if spent_s else ""), flush=True)
    for wrong in load.wrong[:3]:
        print("  wrong: " + wrong)


async def shows(folder, port, patience_s):
    """Whether the certificate in the folder is shown to new connections."""
    until = time.monotonic() + patience_s
    while time.monotonic() < until:
        try:
            only = ssl.create_default_context(cafile=str(folder / "tls.crt"))
            _, writer = await asyncio.open_connection("localhost", port, ssl=only)
            writer.close()
            return True
        except (OSError, ssl.SSLError):
            await asyncio.sleep(0.2)
    return False


async def faults(serve, binary, folder, seconds):
    """The program that was started again, and for how long none answered."""
    await asyncio.sleep(seconds / 3)
    serve.process.send_signal(signal.SIGKILL)
    serve.process.wait()
    again = Serve(binary, folder)
    begin = time.monotonic()
    await again.ready()
    away_s = time.monotonic() - begin
    print(f"killed, and back after {away_s:.2f} s")
    for share, name in ((1 / 6, "second"), (1 / 4, "third")):
        await asyncio.sleep(seconds * share)
        await asyncio.to_thread(certificate, folder, name)
        if not await shows(folder, again.port, PATIENCE_S):
            raise SystemExit(f"the {name} certificate was never shown")
    return again, away_s


async def main(arguments):
    binary = pathlib.Path(arguments.binary).resolve()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="admission-"))
    serve = None
    try:
        (folder / "prices.csv").write_text(PRICES)
        (folder / "pennyweight.yaml").write_text(CONFIG.replace("PORT", "0"))
        certificate(folder, "first")
        serve = Serve(binary, folder)
        await serve.ready()
        # The same port after a restart.
        (folder / "pennyweight.yaml").write_text(CONFIG.replace("PORT", str(serve.port)))
        load = Load(folder, serve.port, arguments.connections)
        wrong = list((await load.run(50, 1)).wrong)
        lost = load.lost
        before = serve.spent_s()
        wrong += (await load.run(arguments.rate, arguments.seconds)).wrong
        tell("calm", load, arguments.seconds, serve.spent_s() - before)
        lost += load.lost
        if not arguments.calm:
            struck = asyncio.create_task(faults(serve, binary, folder, arguments.seconds))
            await load.run(arguments.rate, arguments.seconds)
            serve, away_s = await struck
            # Those of the time away, and what was being asked when it was killed.
            lost += max(0, load.lost - int(arguments.rate * (away_s + 1)) - arguments.connections)
            tell("killed and rotated", load, arguments.seconds, 0)
            wrong += load.wrong
        serve.process.send_signal(signal.SIGTERM)
        serve.process.wait(PATIENCE_S)
        return 1 if wrong or lost else 0
    finally:
        if serve and serve.process.poll() is None:
            serve.process.kill()
        shutil.rmtree(folder, ignore_errors=True)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("binary")
parser.add_argument("--rate", type=float, default=500)
parser.add_argument("--seconds", type=float, default=60)
parser.add_argument("--connections", type=int, default=16)
parser.add_argument("--calm", action="store_true")
sys.exit(asyncio.run(main(parser.parse_args())))
