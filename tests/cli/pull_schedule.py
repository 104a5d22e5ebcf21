"""A month of every provider, pulled by `serve` on a schedule from an S3 server and Azure's emulator, and cut off with
kill -9 at any moment: it is in the ledger once, whole. PENNYWEIGHT_PULL_KILLS sets how often the program is killed in
all (default 3, each for another provider)."""
import gzip
import json
import os
import random
import signal
import subprocess
import time
from decimal import Decimal

from deliveries import Bill, PROVIDERS, in_ledger, make
from harness import BINARY, expect, expect_run, folder, report
from object_servers import Server, servers

KILLS = int(os.environ.get("PENNYWEIGHT_PULL_KILLS", "3"))
PARTS = 3
PATIENCE = 120.0  # seconds, for a machine that has much else to do


def publish(server, name, bill):
    """A month in parts, with the manifest that its provider writes."""
    where = f"exports/{name.replace(' ', '-')}/20260301-20260401"
    parts = [gzip.compress(bill.text(rows=bill.rows[i::PARTS]).encode(), mtime=0) for i in range(PARTS)]
    keys = [f"{where}/run-1/part-{i}.csv.gz" for i in range(PARTS)]
    for key, part in zip(keys, parts):
        server.put(key, part)
    if name == "AWS CUR":
        server.put(f"{where}/report-Manifest.json", json.dumps({"bucket": "bills", "reportKeys": keys}).encode())
    if name == "Azure":
        blobs = [{"blobName": key, "byteCount": len(part)} for key, part in zip(keys, parts)]
        server.put(f"{where}/run-1/manifest.json", json.dumps({"blobs": blobs}).encode())


def configure(cwd, server, provider, name):
    text = server.configuration(cwd, ", every: 1s").replace("exports'", f"exports/{name.replace(' ', '-')}'", 1)
    for option, value in zip(provider["options"][::2], provider["options"][1::2]):
        text += f"bills: [{{format: azure, {option[2:].replace('-', '_')}: {value}}}]\n"
    (cwd / "pennyweight.yaml").write_text(text)


def serve(cwd):
    log = open(cwd / "serve.log", "ab")
    return subprocess.Popen([BINARY, "serve", "--listen", "127.0.0.1:0"], cwd=cwd, stdout=log, stderr=log)


def pulled(cwd, child):
    """Seconds until the delivery is known to be imported."""
    state = cwd / "pennyweight.duckdb.pulled" / "bills" / "imported"
    began = time.monotonic()
    while not (state.exists() and state.stat().st_size > 0):
        if child.poll() is not None or time.monotonic() - began > PATIENCE:
            expect(False, f"nothing was pulled; exit code {child.poll()}\n{(cwd / 'serve.log').read_text()}")
            break
        time.sleep(0.02)
    return time.monotonic() - began


def stop(child):
    child.send_signal(signal.SIGTERM)
    try:
        child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        expect(False, "serve does not stop")


def rounds(server, name, kills, randomly):
    provider = PROVIDERS[name]
    bill = Bill(make(folder(), provider, provider["form"], "bill.csv"))
    truth = sum((provider["cost"](row) for row in bill.dicts()), Decimal(0))
    publish(server, name, bill)
    longest = None
    for number in range(kills + 1):  # the first is not killed, and tells how long it takes
        cwd = folder()
        configure(cwd, server, provider, name)
        child = serve(cwd)
        if longest is None:
            longest = pulled(cwd, child)
        else:
            time.sleep(randomly.uniform(0.0, longest * 1.05))
            child.kill()
            child.wait()
            child = serve(cwd)
            pulled(cwd, child)
        stop(child)
        got = in_ledger(cwd, provider["ledger"])
        expect(got == truth, f"{server.kind}, {name}, killed {number} times: {got}, the truth is {truth}")
        expect_run(["pull"], cwd, 0, ["0 deliveries imported, 1 as before"])


if __name__ == "__main__":
    randomly = random.Random(5)
    places = [(kind, name) for kind in servers() for name in PROVIDERS]
    randomly.shuffle(places)
    kills = {place: KILLS // len(places) + (1 if at < KILLS % len(places) else 0) for at, place in enumerate(places)}
    for kind in sorted({kind for kind, _ in places}):
        server = Server(kind, folder())
        try:
            for place, count in kills.items():
                if place[0] == kind and count > 0:
                    rounds(server, place[1], count, randomly)
        finally:
            server.stop()
    report("cli/pull_schedule")
