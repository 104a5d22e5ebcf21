#!/usr/bin/env python3
"""A past window is read again from a real VictoriaMetrics, and from a real Prometheus.

    test_backfill.py PENNYWEIGHT SQL_TOOL

The window is loaded as a scrape every 15 s would have left it. Backfilled, and backfilled again, it
must be in the ledger once, and be what the same samples make that come live. The same must come of
either server and either API, of two windows side by side, of a backfill that is killed again and
again, and of one into a ledger that has a part of the time from `serve`.
"""
import random
import subprocess
import sys
import time

import checks
import fleet_truth
import harness
import ledger
import remote_write
from harness import expect, say

INTERVAL_S = 15
MINUTES = 20
CLUSTER = "real"


def window():
    """[begin, end) in Unix seconds: whole minutes, an hour ago."""
    end = int(time.time()) // 60 * 60 - 3600
    return end - MINUTES * 60, end


def samples_of(fleet, begin, end):
    """{labels: {ms: value}} as a scrape by Prometheus with external labels leaves them."""
    found = {}
    for node, (name, gpus) in enumerate(fleet.items()):
        for at in range(begin, end, INTERVAL_S):
            at += node  # nodes are scraped at different moments
            for line in fleet_truth.exposition(gpus, at).splitlines():
                if line.startswith("#"):
                    continue
                metric, rest = line.split("{", 1)
                text, value = rest.rsplit("} ", 1)
                labels = {"__name__": metric, "cluster": CLUSTER, "job": "dcgm-exporter",
                          "instance": f"{name}:9400"}
                for pair in text.split('",'):
                    key, _, content = pair.partition('="')
                    if content.rstrip('"'):
                        labels[key] = content.rstrip('"')
                found.setdefault(tuple(sorted(labels.items())), {})[at * 1000] = float(value)
    return found


def as_text(samples):
    for pairs, kept in samples.items():
        labels = dict(pairs)
        name = labels.pop("__name__")
        text = ",".join(f'{key}="{value}"' for key, value in labels.items())
        for at_ms, value in kept.items():
            yield f"{name}{{{text}}} {value!r} {at_ms}"


def instant(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def command(server, url, begin, end, *more):
    return [server.binary, "--config", server.config, "backfill", "--url", url, "--from",
            instant(begin), "--to", instant(end), "--cluster", CLUSTER, *more]


def backfill(server, url, begin, end, *more):
    done = subprocess.run(command(server, url, begin, end, *more), capture_output=True, text=True,
                          timeout=120)
    expect(done.returncode == 0, f"backfill: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


FACTS = ("cluster", "node", "gpu", "mig_instance", "workload", "at_ms", "span_ms", *ledger.COLUMNS,
         "power_milliwatts", "energy_used_millijoules", "temperature_celsius", "sm_clock_mhz")


def facts(rows):
    return sorted(tuple(str(row[name]) for name in FACTS) for row in rows)


def differ(ours, theirs):
    return f"{len(ours)} spans, {len(theirs)}; {sorted(set(facts(ours)) ^ set(facts(theirs)))[:8]}"


def send_live(server, samples):
    """One body for each moment, in the order of time."""
    moments = {}
    for labels, kept in samples.items():
        for at_ms, value in kept.items():
            moments.setdefault(at_ms, []).append((dict(labels), [(at_ms, value)]))
    for at_ms in sorted(moments):
        body = remote_write.encode(moments[at_ms])
        status, text = harness.post(server, body, remote_write.HEADERS)
        expect(status in (200, 204), f"{status} {text}")


def kill_and_go_on(server, url, begin, end):
    """Kills it after a random time, a little later each time, until it ends by itself; how often."""
    kills = 0
    for attempt in range(200):
        process = subprocess.Popen(command(server, url, begin, end, "--step-hours", "1"),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            code = process.wait(timeout=random.uniform(0, 0.05 + 0.02 * attempt))
            expect(code == 0, f"a backfill that goes on ends with {code}")
            return kills
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
    expect(False, "it never ended")
    return kills


def known_ms(rows):
    """{(device, column): ms}; a column that covers a moment twice fails."""
    found, last = {}, {}
    for row in sorted(rows, key=lambda row: row["at_ms"]):
        for name in (*ledger.COLUMNS, "power_milliwatts", "energy_used_millijoules"):
            if row[name] is None:
                continue
            key = (row["gpu"], row["mig_instance"], row["workload"], name)
            expect(row["at_ms"] >= last.get(key, 0), f"{key} twice at {row['at_ms']}")
            last[key] = row["at_ms"] + row["span_ms"]
            found[key] = found.get(key, 0) + row["span_ms"]
    return found


def main():
    pennyweight, sql_tool = sys.argv[1:3]
    harness.need("victoria-metrics", "prometheus", pennyweight)
    folder = harness.folder("backfill")
    victoria = harness.VictoriaMetrics(folder).start()
    begin, last = window()
    end = last + 60  # the last values still hold
    fleet = fleet_truth.nodes_of(("plain", "mig", "resets"), begin - 600)
    samples = samples_of(fleet, begin, last)
    count = sum(map(len, samples.values()))
    victoria.import_text(list(as_text(samples)))
    victoria.flush()
    say(f"{count:,} samples of {len(samples)} series are in VictoriaMetrics")

    def empty(name):
        return harness.Pennyweight(pennyweight, folder, sql_tool, name=name, resolution_ms=60_000)

    def usages(server):
        return ledger.usages(sql_tool, server.ledger)

    past = empty("past")
    text = backfill(past, victoria.url, begin, end)
    say(text.strip())
    expect(f"{count} samples" in text, "every sample was read")
    first = usages(past)
    expect(len(first) > 0, "the window came into the ledger")
    expect("already" in backfill(past, victoria.url, begin, end), "it says that it is there")
    expect(facts(first) == facts(usages(past)), "twice is once")
    backfill(past, victoria.url, begin, end, "--again")
    expect(facts(first) == facts(usages(past)), "and again adds nothing")
    backfill(past, victoria.url, begin - 300, end - 600)
    expect(facts(first) == facts(usages(past)), "nor does another window over the same time")
    checks.whole_ledger(past, samples, INTERVAL_S * 1000)

    query = empty("query")
    backfill(query, victoria.url, begin, end, "--api", "prometheus")
    expect(facts(first) == facts(usages(query)), "its query API: " + differ(first, usages(query)))

    prometheus = harness.Prometheus(folder, receive=True).start()
    send_live(prometheus.url + "/api/v1/write", samples)
    other = empty("prometheus-past")
    say(backfill(other, prometheus.url, begin, end).strip())
    expect(facts(first) == facts(usages(other)), "Prometheus: " + differ(first, usages(other)))

    halves = empty("halves")
    middle = begin + 7 * 60
    for part in ((middle, end), (begin, middle)):
        text = backfill(halves, victoria.url, *part)
        expect(f"{count} samples" in text, f"each reads beyond its borders: {text}")
    expect(facts(first) == facts(usages(halves)), "two windows: " + differ(first, usages(halves)))

    killed = empty("killed")
    say(f"killed {kill_and_go_on(killed, victoria.url, begin, end)} times")
    expect(facts(first) == facts(usages(killed)), "killed: " + differ(first, usages(killed)))

    # `serve` saw some minutes of it, and then some more: in between drivers were loaded again.
    both = empty("both").start()
    seen = ((begin + 125, begin + 300), (begin + 800, begin + 1000))
    some = {labels: {at: value for at, value in kept.items()
                     if any(since * 1000 <= at < until * 1000 for since, until in seen)}
            for labels, kept in samples.items()}
    send_live(both.write_url, some)
    both.settle()
    expect(both.stop() == 0, "pennyweight ended well")
    before = usages(both)
    expect(len(before) > 0, "serve wrote what it saw")
    expect(not [row for row in before
                if (begin + 400) * 1000 <= row["at_ms"] < (begin + 740) * 1000],
           "and nothing of what it did not see")
    say(backfill(both, victoria.url, begin, end).strip())
    rows = usages(both)
    expect(set(facts(before)) <= set(facts(rows)), "what serve saw stays as it was")
    expect(known_ms(rows) == known_ms(first), "each moment of each column is known once")

    def energy(rows):
        return sum(row["energy_used_millijoules"] or 0 for row in rows)

    say(f"energy: {energy(first):,} mJ, {energy(rows):,} mJ")
    expect(abs(energy(rows) - energy(first)) <= energy(first) // 100, "energy counts once")

    # The same samples as they would have come live.
    live = empty("live").start()
    send_live(live.write_url, samples)
    live.settle()
    expect(live.stop() == 0, "pennyweight ended well")
    rows, _ = checks.whole_ledger(live, samples, INTERVAL_S * 1000)
    expect(facts(rows) == facts(first), "backfilled is what came live: " + differ(first, rows))


if __name__ == "__main__":
    harness.guarded(main, "real/backfill")
