#!/usr/bin/env python3
"""docs/guide/slurm.md, word by word: every block of it is tried, or said why not.

usage: guide_slurm.py PENNYWEIGHT

Slurm, slurmdbd and MariaDB are real ones (../slurm/cluster.py); the exporter is a stand-in.
"""
import json
import pathlib
import sys
import time

import guide

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "top"))
import top_common  # noqa: E402
from harness import Program, expect, folder, free_port, guarded, need, say, wait_until  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "slurm"))
import cluster  # noqa: E402


def checks_before(reader, slurm):
    """What you need, who may see all jobs, first by hand."""
    wanted = reader.block("AccountingStorageTRES=").strip()
    conf = (slurm.folder / "slurm.conf").read_text()
    has = next(line for line in conf.splitlines() if line.startswith("AccountingStorageTRES="))
    for tres in wanted.split("=", 1)[1].split(","):
        expect(tres in has.split("=", 1)[1].split(","), f"{tres} is accounted for: {has}")
    slurm.submit("games", "proj-llm", "sleep 1", "--gres=gpu:a100:2", "--nodelist=n1")
    look = reader.block("--starttime=now-1day").strip()
    wait_until("sacct shows the GPUs of a job", lambda: "gres/gpu=2" in reader.types(look), 60)
    expect("PrivateData" in reader.types(reader.block("scontrol show config")), "PrivateData")
    # It asks twice whether one is sure: nobody has this name here. One letter answers.
    reader.types("printf yy | " + reader.block("sacctmgr add user").strip())
    expect("Operator" in reader.types("sacctmgr --noheader show user pennyweight "
                                      "format=user,adminlevel%20"), "the operator is there")
    running = slurm.submit("games", "proj-llm", "sleep 60", "--gres=gpu:a100:2", "--nodelist=n1")
    wait_until("it runs", lambda: "RUNNING" in slurm.run("scontrol", "show", "job", running), 60)
    said = reader.types(reader.block("SLURM_TIME_FORMAT=%s\nscontrol show job"))
    for part in ("GRES=gpu:a100:2(IDX:0-1)", "Gres=gpu:a100:4", "AllocTRES"):
        expect(part in said, f"{part} is shown: {said}")
    slurm.run("scancel", running)


def a_file(reader):
    """A month from a file, into a ledger of its own."""
    month = time.strftime("%Y-%m-01", time.gmtime())
    next_month = time.strftime("%Y-%m-01", time.gmtime(time.time() + 32 * 86400))
    text = reader.block("> jobs.psv").replace("2026-04-01", next_month).replace("2026-03-01", month)
    said = reader.types(text.replace("pennyweight ", "pennyweight --store file.duckdb "))
    expect("2 jobs" in said or "jobs: 2" in said or "2 new" in said, f"the jobs are taken: {said}")
    expect("set aside" not in said, f"and none set aside: {said}")


def live(reader, where, slurm, port):
    reader.file("prices.csv", "a100,GPU-Hours")
    reader.file("pennyweight.yaml", "kind: slurm")
    reader.block("pennyweight serve")
    serve = Program("serve", [where / "bin" / "pennyweight", "serve"], where,
                    ready=f"http://127.0.0.1:{port}/readyz", env=slurm.env).start(patience=90)
    lines = reader.block("sbatch --gres").strip().splitlines()
    (where / "train.sh").write_text("#!/bin/sh\nsleep 300\n")
    begun = time.time()
    command = lines[0].replace("train.sh", f"--chdir=/tmp --output=/dev/null {where}/train.sh")
    job = slurm.run("bash", "-c", command, user="games").split()[-1]

    def row():
        rows = json.loads(reader.types("pennyweight top --format json --limit 0"))[0]["rows"]
        return next((one for one in rows if one["workload"] == job), None)

    found, _ = top_common.seconds_until("the job is in `top`", row, begun)
    expect((found["team"], found["gpus"], found["cost_per_hour"]) == ("nlp", "2", "2.2"),
           f"two cards at 1.10: {found}")
    expect("unallocated" in reader.types(lines[1]), "the first row is unallocated capacity")
    for line in reader.block("top --watch").splitlines():
        command = line.split("  #")[0].strip()
        said = reader.watches(command) if "--watch" in command else reader.types(command)
        expect("unallocated" in said or job in said or "user=games" in command
               and "proj-llm" in said, f"{command} shows it: {said}")
    ended = time.time()
    slurm.run("scancel", job)
    top_common.seconds_until("it is gone as fast", lambda: row() is None, ended)
    expect(serve.stop() == 0, "it ends with 0")


def main():
    binary = sys.argv[1]
    need(binary)
    reason = cluster.why_not()
    if reason:
        print("skipped:", reason)
        sys.exit(cluster.SKIP)
    where = folder("guide-slurm")
    where.chmod(0o755)
    port = free_port()
    exporters = [top_common.exporter([top_common.Card("n1", i) for i in range(4)]),
                 top_common.exporter([top_common.Card("n2", i) for i in range(2)])]
    with cluster.Cluster() as slurm:
        reader = guide.Reader("slurm.md", where, binary, {
            "127.0.0.1:9595": f"127.0.0.1:{port}", "n1:9400": exporters[0].target,
            "n2:9400": exporters[1].target}, env=slurm.env)
        checks_before(reader, slurm)
        a_file(reader)
        live(reader, where, slurm, port)
    reader.passed_over("exec ssh", "it needs a second machine")
    for what in reader.finished():
        expect(False, what)
    say("the page was gone through")


if __name__ == "__main__":
    guarded(main, "guide_slurm")
