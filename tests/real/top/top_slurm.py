#!/usr/bin/env python3
"""A job of a real Slurm shows what it costs within a minute of its start, in `top` and in the API.

usage: top_slurm.py PENNYWEIGHT SQL_TOOL

Slurm as in ../slurm/cluster.py, a stand-in for dcgm-exporter for the GPUs of node n1, and `serve` with
its defaults: it asks Slurm each 30 s, and scrapes each 30 s. n1 has 4 GPUs at 1.10 an hour;
n2, whose two models stand for one, is priced at that one's 2.30.
"""
import datetime
import pathlib
import sys
import time

import top_common
from harness import expect, folder, guarded, need, say, wait_until
from top_common import Decimal, amount

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "slurm"))
import cluster  # noqa: E402

PRICE = Decimal("1.1")


def config(target):
    return ("clusters: [{name: lab, kind: slurm}]\n"
            "prices: {rate_card: card.csv}\n"
            "slurm: [{cluster: lab}]\n"
            f"scrape: [{{job: dcgm, targets: ['{target}']}}]\n")


def follow(slurm, serve, cards):
    before = serve.top()
    fleet = amount(before["total"]["cost_per_hour"])
    expect(fleet == 4 * PRICE + 3 * Decimal("2.3"), f"two nodes cost {fleet} an hour")
    begun = time.time()
    job = str(slurm.submit("games", "proj-llm", "sleep 600", "--gres=gpu:a100:2", "--nodelist=n1",
                           "--job-name=pretrain", "--comment=project=chat;team=nlp"))
    row, _ = top_common.seconds_until("the job is in `top`", lambda: serve.row(job), begun)
    expect(serve.api(filter=f"workload={job}")["rows"] == [row], "the API says the same")
    expect(amount(row["cost_per_hour"]) == 2 * PRICE, f"2 GPUs at 1.10: {row['cost_per_hour']}")
    expect((row["user"], row["team"]) == ("games", "nlp"), f"whose it is: {row}")
    expect((row["nodes"], row["device"], row["gpus"]) == ("n1", "gpu", "2"), f"where: {row}")
    expect(top_common.adds_up(serve.top(), fleet), "all rows together are the nodes' price")
    labels = serve.row(job, "--by", "account,job_name,partition,project")
    expect((labels["account"], labels["partition"]) == ("proj-llm", "gpu"), f"labels: {labels}")
    expect((labels["job_name"], labels["project"]) == ("pretrain", "chat"), f"labels: {labels}")
    used, _ = top_common.seconds_until(
        "how much of it is used", lambda: (serve.row(job) or {}).get("busy"), begun, 90)
    expect(abs(Decimal(used) - 25) < 1, f"25 % of it are used: {used}")

    # Another, of another user, so that there is something to sort.
    other = str(slurm.submit("news", "proj-vision", "sleep 600", "--gres=gpu:a100:1",
                             "--nodelist=n1"))
    wait_until("the second job is in `top`", lambda: serve.row(other), 60)
    top_common.expect_sorted(serve)
    expect(top_common.adds_up(serve.top(), fleet), "with two jobs as well")
    expect([r["workload"] for r in serve.top("--filter", "user=news")["rows"]] == [other],
           "a filter")

    # Its end.
    ended = time.time()
    slurm.run("scancel", job)
    top_common.seconds_until("the job is gone from `top`", lambda: serve.row(job) is None, ended)
    expect(serve.row(other) is not None, "the other one goes on")
    expect(top_common.adds_up(serve.top(), fleet), "and after its end")
    return job, other


def instant(text):
    moment = datetime.datetime.fromisoformat(text.replace("Z", "").replace(" ", "T")[:19])
    return moment.replace(tzinfo=datetime.timezone.utc).timestamp()


def main():
    binary, sql_tool = sys.argv[1:3]
    need(binary)
    reason = cluster.why_not()
    if reason:
        print("skipped:", reason)
        sys.exit(cluster.SKIP)
    where = folder("top-slurm")
    (where / "card.csv").write_text("gpu_model,unit,price,currency\na100,GPU-Hours,1.1,EUR\n"
                                    "h100,GPU-Hours,2.3,EUR\n")
    cards = [top_common.Card("n1", index) for index in range(4)]
    exporter = top_common.exporter(cards)
    with cluster.Cluster() as slurm:
        serve = top_common.Serve(binary, where, "lab", config(exporter.target), env=slurm.env)
        serve.start(patience=90)
        say("serve is ready")
        # Slurm only gives the index of a GPU; the ledger must know before which GPU that is.
        wait_until("the cards are known", lambda: serve.knows_cards(4), 90)
        job, other = follow(slurm, serve, cards)
        said = slurm.run("sacct", "--allusers", "--allocations", "--parsable2", "--noheader",
                         f"--jobs={job}", "--format=Start,End").strip()
        # Verbs work beside a running `serve`.
        serve.verb("reconcile")
        expect(serve.stop() == 0, "it ends with 0")
    last = top_common.holdings(serve, sql_tool, job)[-1]
    begin, end = (instant(text) for text in said.split("|"))
    expect(last["ended"] == "true", f"the ledger has its end: {last}")
    expect((top_common.seconds_of(last["held_from"]), top_common.seconds_of(last["held_to"]))
           == (begin, end), f"sacct says {said}, the ledger {last}")
    expect(cards[0].uuid[:12] in str(last), f"and on which cards it was: {last}")


if __name__ == "__main__":
    guarded(main, "top_slurm")
