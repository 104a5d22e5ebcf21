#!/usr/bin/env python3
"""What commits that are there already cost a program that starts, on one ClickHouse server.

    bench/commits.py build/release/pennyweight [--commits 10000,100000,1000000] [--rounds 5]
                     [--folder /var/tmp/commits] [--tiny]

A small ledger is made with the program itself; then commits are added to its list (docs/clickhouse/
commits.md), each a turn with all its rows, of imports that brought nothing. Of each command the
median of the rounds is printed: processor seconds, ours and the server's, and our most memory. The
answers must be the same however long the list is.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import scale  # noqa: E402
from scale import clickhouse, expect, harness  # noqa: E402

ASKED = {
    "report --by team": ["report", "--by", "team", "--cost", "all", "--format", "csv"],
    "a report joined with bill lines": ["report", "--by", "service,team", "--format", "csv"],
}
ROWS_AT_ONCE = 250_000


def add_commits(server, wanted):
    """Until the list has so many, behind what counts."""
    position, turn = (int(part) for part in server.ask(
        "SELECT max(position), max(turn) FROM scale.log WHERE kind = 'sealed'")[0])
    turn = max(turn, int(server.ask("SELECT max(turn) FROM scale.log")[0][0]))
    for begin in range(0, wanted - position, ROWS_AT_ONCE):
        count = min(ROWS_AT_ONCE, wanted - position - begin)
        server.ask(
            "INSERT INTO scale.log (kind, turn, writer, position, prefix, session, what, at) "
            f"SELECT k, {turn + 1} + n, sipHash64({position} + n, 'writer'), "
            f"multiIf(k = 'open', {position} + n, is_entry, {position + 1} + n, 0), "
            f"if(k = 'open', toString({turn} + n), ''), "
            f"if(is_entry, sipHash64({position} + n, 'session'), 0), "
            "if(is_entry, 'import', ''), toInt64(1775000000000 + n) FROM (SELECT k, n, "
            "k IN ('entry', 'sealed') AS is_entry FROM (SELECT "
            "arrayJoin(['claim', 'open', 'entry', 'sealed', 'release']) AS k, "
            f"number + {begin} AS n FROM (SELECT number FROM system.numbers LIMIT {count})))")
        server.ask(f"INSERT INTO scale.imports (session, style) SELECT sipHash64({position} + {begin} + "
                   f"number, 'session'), 'ledger' FROM (SELECT number FROM system.numbers LIMIT {count})")


def make_ledger(store, options):
    fleet = scale.Fleet(0, 16, 1)
    made = {fleet.name: fleet.write_tables(options.folder)}
    options.days = 1
    bill = scale.write_bill([fleet], made, options)
    usage = options.folder / "usage.csv"
    fleet.write_usage(usage, 0, range(60))
    store.run("import", "--cluster", fleet.name, *made[fleet.name]).wait()
    store.run("import", bill).wait()
    store.run("import", "--cluster", fleet.name, usage).wait()
    store.run("allocate").wait()
    return fleet


def import_a_row(store, fleet, options, second):
    path = options.folder / "row.csv"
    path.write_text("node,gpu,at,engine_active,memory_used_bytes,memory_total_bytes,workload\n"
                    f"{fleet.nodes[0]},{fleet.cards[0]},{scale.moment(70, second)},0.5,1,2,\n")
    return store.timed("import", "--cluster", fleet.name, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pennyweight", type=os.path.abspath)
    parser.add_argument("--commits", default="10000,100000,1000000")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=pathlib.Path, help="else a temporary one")
    parser.add_argument("--tiny", action="store_true", help="for ctest: answers, not times")
    options = parser.parse_args()
    if options.tiny:
        options.commits, options.rounds = "2000", 1
    harness.need("clickhouse-server")
    if options.folder:
        options.folder = options.folder.resolve()
        shutil.rmtree(options.folder, ignore_errors=True)
        options.folder.mkdir(parents=True)
    else:
        options.folder = harness.folder("commits")
    store = scale.OnServers("one", options.folder / "one", options.pennyweight,
                            clickhouse.OneServer())
    server = store.servers.servers[0]
    fleet = make_ledger(store, options)
    answers = [store.run(*asked).wait().said() for asked in ASKED.values()]
    expect(all(len(answer.splitlines()) > 2 for answer in answers), "there is something to compare")
    print("| commits in the list | " + " | ".join([*ASKED, "importing one row"]) +
          " | most memory |\n|---|" + "---|" * (len(ASKED) + 2), flush=True)
    second = 0
    for wanted in [0, *map(int, options.commits.split(","))]:
        add_commits(server, wanted)
        store.settle()
        there = int(server.ask("SELECT max(position) FROM scale.log WHERE kind = 'sealed'")[0][0])
        steps = {what: [store.timed(*asked) for _ in range(options.rounds)]
                 for what, asked in ASKED.items()}
        for asked, answer in zip(ASKED.values(), answers):
            expect(store.run(*asked).wait().said() == answer,
                   f"{' '.join(asked)} says something else after {there} commits")
        steps["import"] = []
        for _ in range(options.rounds):
            second += 1
            steps["import"].append(import_a_row(store, fleet, options, second))
        cells = []
        for runs in steps.values():
            ours, theirs, clock = (statistics.median(run[key] for run in runs)
                                   for key in ("cpu", "server_cpu", "seconds"))
            cells.append(f"{ours:.2f} + {theirs:.2f} ({clock:.2f})")
        peak = max(run["peak_bytes"] for runs in steps.values() for run in runs)
        print(f"| {there:,} | " + " | ".join(cells) + f" | {peak / 2**20:,.0f} MiB |", flush=True)
    store.stop()


if __name__ == "__main__":
    harness.guarded(main, "bench/commits")
