#!/usr/bin/env python3
"""Faults: nothing that was acknowledged is lost, nothing counts twice, and gaps show.

    test_faults.py PENNYWEIGHT SQL_TOOL kill|network|disk|skew [--seed N]

A recorder between Prometheus and pennyweight (remote_write.py) knows to the sample what was
acknowledged; after the fault, and after a restart from what is on disk, the ledger must say exactly
what these samples say. Every fourth acknowledgement is kept from Prometheus, so that it repeats
bodies that were taken.
"""
import argparse
import os
import pathlib
import random
import sys
import time

import checks
import fleet_exporter
import harness
import ledger
import remote_write
from harness import expect, say

MODES = ("plain", "mig", "resets")
HERE = pathlib.Path(__file__).resolve().parent


def open_questions(recorder):
    """Samples of bodies whose answer never came, and that were not acknowledged since."""
    acknowledged, _ = recorder.samples()
    doubtful, _ = recorder.in_doubt()
    return sum(at_ms not in acknowledged.get(labels, {})
               for labels, kept in doubtful.items() for at_ms in kept)


def finish(server, prometheus, recorder, all_of_it=True):
    """Waits until all is quiet, and compares the ledger with what was acknowledged, and that with
    what Prometheus has, unless it was killed: then it never sends what it had not sent."""
    prometheus.stop_scraping()
    prometheus.drain()
    acknowledged, count = recorder.samples()
    scraped = prometheus.raw()
    unsent = sum(len(times - set(acknowledged.get(labels, {})))
                 for labels, times in scraped.items())
    say(f"Prometheus scraped {sum(map(len, scraped.values())):,} samples of {len(scraped)} series; "
        f"{unsent:,} of them were never acknowledged")
    expect(unsent == 0 or not all_of_it, "Prometheus has sent all it has")
    expect(open_questions(recorder) == 0, "all samples were answered for")
    prometheus.stop()
    server.settle()
    expect(server.stop() == 0, "pennyweight ended well")
    own = sum(len(kept) for kept in acknowledged.values())
    say(f"{count:,} samples were acknowledged, {count - own:,} of them again; {recorder.lost} "
        f"acknowledgements kept back; {len(recorder.unanswered)} bodies without an answer; "
        f"refused: {recorder.refused}")
    expect(count > own > 500, "data flowed, some of it twice")
    return checks.whole_ledger(server, acknowledged)


def kill(options):
    folder = harness.folder("kill")
    server = harness.Pennyweight(options.pennyweight, folder, options.sql_tool).start()
    recorder = remote_write.Recorder(server.port, lose_every=4)
    exporters = fleet_exporter.Exporters(fleet_exporter.fleet_now(MODES))
    prometheus = harness.Prometheus(folder, exporters.targets, recorder.url).start()
    chance = random.Random(options.seed)
    say(f"seed {options.seed}")
    exporters.wait_scraped()
    for victim in ("ours", "ours", "theirs", "ours", "ours"):
        time.sleep(chance.uniform(1.0, 3.5))
        if victim == "ours":
            server.kill()
            say("pennyweight was killed")
            time.sleep(chance.uniform(0.1, 1.5))
            server.start()
        else:
            # Not while a body is unanswered: a sender that dies never repeats it.
            harness.wait_until("nothing is in doubt", lambda: open_questions(recorder) == 0)
            prometheus.kill()
            say("Prometheus was killed")
            prometheus.start()
            exporters.wait_scraped()
    finish(server, prometheus, recorder, all_of_it=False)
    exporters.close()


def network(options):
    harness.need("ip")
    harness.need_root("a network namespace")
    if not harness.can_make_networks():
        print("skipped: no network namespaces here")
        sys.exit(harness.SKIPPED)
    folder = harness.folder("network")
    net = harness.Network()
    server = harness.Pennyweight(options.pennyweight, folder, options.sql_tool).start()
    recorder = remote_write.Recorder(server.port, address=net.here, lose_every=4)
    exporter = harness.Program("exporter", net.inside(
        [sys.executable, HERE / "fleet_exporter.py", "--modes", ",".join(MODES), "--port", "9400"]),
        folder).start()
    targets = [f"127.0.0.1:{9400 + k}" for k in range(len(MODES))]
    prometheus = harness.Prometheus(folder, targets, recorder.url, wrapper=net.inside([]),
                                    address=net.there).start()
    harness.wait_until("samples come", lambda: len(recorder.acknowledged) > 4)
    net.cut()
    say("the cable was cut")
    time.sleep(6)
    before, _ = recorder.samples()
    net.mend()
    say("and mended")
    harness.wait_until("Prometheus goes on where it was", lambda: sum(
        map(len, recorder.samples()[0].values())) > sum(map(len, before.values())), pause=0.5)
    time.sleep(6)
    exporter.kill()
    silent = time.time()
    time.sleep(6)
    silent = time.time() - silent
    exporter.start()
    say(f"no exporter for {silent:.1f} s")
    time.sleep(4)
    rows, unknown = finish(server, prometheus, recorder)
    series = sum(len(ledger.sums(rows, column, server.resolution_ms))
                 for column in ledger.COLUMNS)
    # The cut lost nothing; the exporter's silence did, but for a second before each end.
    per_series = unknown / series / 1000
    say(f"unobserved: {per_series:.2f} s of each of {series} series")
    # A busy machine needs a while to start an exporter, and scrapes may come too late.
    expect(silent - 2.5 <= per_series <= 2 * silent + 10,
           f"unobserved is {silent:.1f} s of silence, not {per_series:.2f}")


def disk(options):
    harness.need("mount")
    harness.need_root("a small disk")
    folder = harness.folder("disk")
    journal = harness.SmallDisk(folder / "journal", 96)
    store = harness.SmallDisk(folder / "store", 64)
    server = harness.Pennyweight(options.pennyweight, folder, options.sql_tool,
                                 data=journal.path / "data",
                                 ledger=store.path / "ledger.duckdb").start()
    recorder = remote_write.Recorder(server.port, lose_every=4)
    exporters = fleet_exporter.Exporters(fleet_exporter.fleet_now(MODES))
    prometheus = harness.Prometheus(folder, exporters.targets, recorder.url).start()
    exporters.wait_scraped()
    time.sleep(4)
    store.fill()
    say("the ledger's disk is full")
    time.sleep(4)
    expect(server.alive(), "pennyweight lives without room for its ledger")
    journal.fill()
    say("the journal's disk is full")
    harness.wait_until("a full disk is reported", lambda: sum(
        times for status, times in recorder.refused.items() if status in (429, 503)))
    harness.wait_until("/readyz says that it can take nothing",
                       lambda: harness.get(server.url + "/readyz")[0] == 503)
    time.sleep(2)
    status, _ = harness.get(server.url + "/healthz")
    expect(status == 200, f"/healthz says that it lives: {status}")
    expect(set(recorder.refused) <= {429, 503}, f"refused to try again later: {recorder.refused}")
    expect(all(recorder.retry_after), f"with Retry-After: {recorder.retry_after}")
    journal.free()
    store.free()
    say("there is room again")
    harness.wait_until("it is ready again",
                       lambda: harness.get(server.url + "/readyz")[0] == 200)
    time.sleep(2)
    finish(server, prometheus, recorder)
    exporters.close()


def skew(options):
    folder = harness.folder("skew")
    # Prometheus, a Go program, asks the kernel and not libc for the time, so it is our clock that
    # is moved, which is the same to both.
    server = harness.Pennyweight(options.pennyweight, folder, options.sql_tool).start()
    recorder = remote_write.Recorder(server.port, lose_every=4)
    exporters = fleet_exporter.Exporters(fleet_exporter.fleet_now(MODES))
    prometheus = harness.Prometheus(folder, exporters.targets, recorder.url).start()
    exporters.wait_scraped()
    # Minutes either way; and hours and a day ahead, after which devices would count as gone.
    for offset_s in (-300, 90, 7_200, -60, 86_400, 0):
        server.set_clock(offset_s)
        say(f"our clock is {offset_s:+d} s off")
        exporters.wait_scraped()
        expect(server.alive(), f"pennyweight lives with its clock {offset_s:+d} s off")
    # Samples an hour ahead of our clock would end every series: they are dropped and counted, and
    # the series go on.
    ahead = [({**dict(labels), "instance": "an hour ahead"}, [(next(iter(kept)) + 3_600_000, 1.0)])
             for labels, kept in recorder.samples()[0].items()][:50]
    before = server.of_samples("in_future")
    status, text = harness.post(server.write_url, remote_write.encode(ahead), remote_write.HEADERS)
    expect(status in (200, 204), f"a body from the future: {status} {text}")
    counted = server.of_samples("in_future") - before
    say(f"{len(ahead)} samples an hour ahead were sent, {counted} counted as of the future")
    expect(0 < counted <= len(ahead), "samples of the future are counted")
    exporters.wait_scraped()
    finish(server, prometheus, recorder)
    exporters.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pennyweight")
    parser.add_argument("sql_tool")
    parser.add_argument("fault", choices=("kill", "network", "disk", "skew"))
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    options = parser.parse_args()
    harness.need("prometheus", options.pennyweight)
    {"kill": kill, "network": network, "disk": disk, "skew": skew}[options.fault](options)


if __name__ == "__main__":
    harness.guarded(main, "real/faults")
