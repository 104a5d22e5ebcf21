"""The rules about forecasts, forecast_missed and budget_probable, fire and end by bills that come day by day: `serve`
keeps a forecast of each day before its costs are known, and is killed each time (PENNYWEIGHT_KILLS: how often more).
They arrive at a webhook, at a real SMTP server and at a real Alertmanager, where these are installed.

usage: forecast_rules.py PENNYWEIGHT ROOT
"""
import json

from cost_rules import HISTORY_DAYS, Bills, day
from outlets import Outlets
from steps import KILLS, Serve, expect, finish, new_folder, run, wait_for

ALL = {"forecast_missed", "budget_probable"}
# Each of the last days costs more than any forecast of the day before can say.
RISE = {3: "1.6", 2: "3", 1: "7"}


def usual(ago):
    """What a day costs as a part of the list price: a little more or less, as days do."""
    return str(1 + (ago * 7 % 11 - 5) / 50)


def main():
    folder = new_folder("forecast-rules")
    outlets = Outlets(folder)

    def configure(off):
        (folder / "pennyweight.yaml").write_text(f"""
clusters: [{{name: lab, kind: slurm, time_zone: UTC}}]
time_zone: UTC
dimensions: {{team: {{from: [account], fallback: cv}}}}
{outlets.mail}
alerts:
  every: 1s
  off: [cost_anomaly, costs_missing, reconcile_off{off}]
{outlets.config(ALL)}""")

    def set_budget(amount):
        run(["budget", "set", "run", "--amount", f"{amount} USD", "--period", "project", "--from",
             str(day(HISTORY_DAYS)), "--to", str(day(-30)), "--owner", "ana"], folder)

    def kept_first_days():
        return {json.loads(line)["first"] for path in folder.glob("*.live/forecasts.jsonl")
                for line in path.read_text().splitlines() if '"by": "team"' in line}

    configure("")
    bills = Bills(folder, RISE, usual)
    bills.bring(4)
    run(["allocate"], folder)
    serve = Serve(folder)
    try:
        for last in range(3, 0, -1):
            # Before the costs of a day come, `serve` keeps what it takes them to be.
            serve.begin()
            serve.kill_often(KILLS // 7)
            kept = wait_for(lambda ago=last: str(day(ago)) in kept_first_days(), f"a forecast of {day(last)} is kept")
            expect(kept, f"a forecast of {day(last)} is kept: {sorted(kept_first_days())}")
            expect("forecast_missed" not in outlets.rules("firing"), "two days are not three")
            serve.kill()
            bills.bring(last)
            run(["allocate"], folder)
        serve.begin()
        serve.kill_often(KILLS // 7)
        outlets.wait_for("firing", {"forecast_missed"})

        def missed():
            return {body["subject"] for body in outlets.hooks if body["rule"] == "forecast_missed"}
        wait_for(lambda: {"cv", "nlp"} <= missed(), f"the forecasts of both teams were missed: {missed()}")
        serve.kill()
        # The provider corrects its bill: the days cost what they always cost.
        bills.bring(1, "--confirm", is_unusual=False)
        run(["allocate"], folder)
        set_budget(50_000_000)
        serve.begin()
        serve.kill_often(KILLS // 7)
        outlets.wait_for("resolved", {"forecast_missed"})
        serve.kill()
        # More is forecast than this: budget_forecast says so, in the place of budget_probable, unless it is off.
        forecast = json.loads(run(["budget", "--format", "json"], folder))[0]["rows"][0]["forecast"]
        set_budget(round(float(forecast) * 0.99))
        configure(", budget_forecast")
        serve.begin()
        serve.kill_often(KILLS // 7)
        outlets.wait_for("firing", {"budget_probable"})
        serve.kill()
        set_budget(50_000_000)
        serve.begin()
        serve.kill_often(KILLS // 7)
        outlets.wait_for("resolved", {"budget_probable"})
        outlets.check(ALL)
    finally:
        serve.end()
        outlets.close()
    finish("forecast_rules", folder, f"{outlets.summary()}, {KILLS // 7 * 7} kills more")


if __name__ == "__main__":
    main()
