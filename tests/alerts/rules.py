"""Each rule about devices, running work and live cost fires and ends by telemetry that is sent to `serve`, and arrives at
a webhook, at a real SMTP server and at a real Alertmanager (where these are installed), while `serve` is killed.

usage: rules.py PENNYWEIGHT ROOT

PENNYWEIGHT_KILLS: the long form, in which `serve` is killed so often. Everything then begins and ends by itself: a node
and the cluster fall silent for a minute, and the use of GPUs is a mean of five. In the short form `serve` is killed
once, what fell silent did so before it began, and pods end while they use too little.
"""
import random
import time

from fleet import USES, WRONG, Fleet, gpu_id
from outlets import Outlets
from steps import KILLS as KILLS_WANTED, Serve, expect, finish, new_folder, run

IS_LONG = KILLS_WANTED > 0
KILLS = KILLS_WANTED or 1
DEVICE_RULES = {rule for _, rule in [*WRONG.values(), *USES.values()]}
SILENCE_RULES = {"telemetry_missing", "node_missing"}
COST_RULES = {"budget_spent", "budget_exhausted"}
SERVING_RULES = {"latency_high", "pod_oom_killed"}
ALL = DEVICE_RULES | SILENCE_RULES | COST_RULES | SERVING_RULES | {"no_checkpoint"}


def main():
    folder = new_folder("rules")
    errors_for = "20s" if IS_LONG else "8s"
    outlets = Outlets(folder)
    (folder / "pennyweight.yaml").write_text(f"""
clusters: [{{name: lab, kind: kubernetes}}, {{name: far, kind: kubernetes}}]
serve: {{flush_every: 1s, allocate_every: 5s}}
outcomes: [{{metric: checkpoints_total, measure: checkpoints}}]
{outlets.mail}
alerts:
  every: 1s
  off: [costs_missing, cost_anomaly]
  inference: [namespace=serving]
  thresholds: {{silent_for: 1m, errors_for: {errors_for}, latency_window: 10s}}
{outlets.config(ALL | {"budget_forecast"})}""")
    # A run that began four hours ago wrote its last checkpoint three hours ago.
    now = time.time()
    at = [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - seconds)) for seconds in (10_860, 10_800)]
    (folder / "outcomes.csv").write_text(
        f"cluster,workload,measure,begin,end,count\nlab,ml/calm-0,checkpoints,{at[0]},{at[1]},1\n")
    run(["import", "--cluster", "lab", "outcomes.csv"], folder)
    silent_since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - 300))
    if not IS_LONG:
        (folder / "usage.csv").write_text("cluster,node,gpu,at,gpu_util\n" + "".join(
            f"{cluster},{node},{gpu_id(number)},{silent_since},50\n" for cluster, node, number in (
                ("lab", "k2", 110), ("far", "f1", 900))))
        run(["import", "usage.csv"], folder)
    serve = Serve(folder).begin()
    fleet = Fleet(serve, now - 14_400)
    fleet.silent_nodes = set() if IS_LONG else {"k2"}
    fleet.is_new = not IS_LONG
    fleet.is_silent = False
    random.seed(7)

    def kill(times):
        for _ in range(times):
            # In the long form the kills take as long as rules about the mean of some minutes.
            time.sleep(random.uniform(0.5, 10 if IS_LONG else 3))
            serve.kill()
            serve.begin()
            fleet.is_new = not IS_LONG

    def set_budget(name, amount):
        run(["budget", "set", name, "--filter", "cluster=lab", "--amount", f"{amount} USD", "--period", "day",
             "--owner", "nlp"], folder)

    try:
        time.sleep(5)
        early = {"no_checkpoint"} if IS_LONG else {"no_checkpoint", *SILENCE_RULES}
        expect(not outlets.rules("firing") - early,
               f"a fleet that is well raises no alert: {[body['summary'] for body in outlets.hooks]}")
        fleet.wrong = fleet.has_pods = True
        set_budget("small", "0.001")
        set_budget("half", "1000000")
        kill((KILLS + 1) // 2)
        outlets.wait_for("firing", DEVICE_RULES | SERVING_RULES | {"no_checkpoint", "budget_exhausted"})
        if not IS_LONG:
            outlets.wait_for("firing", SILENCE_RULES)
        # gpu_idle is silent beside inference_idle of the same pod.
        idle = {body["subject"] for body in outlets.hooks if body["rule"] == "gpu_idle"}
        expect(idle == {"lab/ml/idle-0"}, f"gpu_idle is told of {idle}")
        # Whoever hears that a budget is exhausted hears by how much; the other is given a little more than that.
        said = [body["summary"] for body in outlets.hooks if body["rule"] == "budget_exhausted"][0]
        set_budget("half", float(said.split(": ")[1].split(" USD")[0].replace(",", "")) * 1.6)
        outlets.wait_for("firing", {"budget_spent"})
        fleet.wrong = False
        fleet.checkpoints += 1
        if not IS_LONG:
            fleet.ended, fleet.silent_nodes, fleet.is_far_silent = time.time(), set(), False
        set_budget("small", "1000000")
        set_budget("half", "1000000")
        kill(KILLS // 2)
        outlets.wait_for("resolved", DEVICE_RULES | COST_RULES | SERVING_RULES | {"no_checkpoint"}, 400)
        if IS_LONG:
            fleet.silent_nodes = {"k2"}
            outlets.wait_for("firing", {"node_missing"})
            fleet.is_silent = True
            outlets.wait_for("firing", {"telemetry_missing"})
            fleet.is_silent, fleet.silent_nodes = False, set()
        outlets.wait_for("resolved", SILENCE_RULES)
        outlets.check(ALL, all_end=True)
    finally:
        serve.end()
        outlets.close()
    finish("rules", folder, f"{outlets.summary()}, {KILLS} kills")


if __name__ == "__main__":
    main()
