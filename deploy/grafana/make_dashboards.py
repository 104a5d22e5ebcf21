#!/usr/bin/env python3
"""Writes the dashboards beside it: pennyweight-{live,costs,jobs,service}.json, for Grafana 10 and 11.

Dashboard files are long and repetitive, so they are generated from this short form; a test
(tests/deploy/test_grafana.py) fails if a file differs from the output. Figures come directly from
/metrics (Prometheus) and /api/v1 (the data source Infinity). Grafana computes in floating point, so
figures that must be exact to the cent are read in pennyweight itself.

usage: make_dashboards.py [FOLDER]
"""
import json
import pathlib
import sys

PROMETHEUS = {"type": "prometheus", "uid": "${datasource}"}
API = {"type": "yesoreyeram-infinity-datasource", "uid": "${datasource}"}
MONEY = "none"  # the currency is in the legend, not in the unit
CHOSEN = '{cluster=~"$cluster", currency=~"$currency"%s}'


def chosen(name, more=""):
    return name + CHOSEN % (", " + more if more else "")


class Dashboard:
    """Panels row by row, 24 columns wide, as Grafana counts."""

    def __init__(self, uid, title, description, tags, source, variables, refresh, begin):
        self.source = source
        self.x = self.y = self.height = 0
        self.value = {
            "uid": uid, "title": title, "description": description, "tags": tags, "editable": True,
            "graphTooltip": 1, "schemaVersion": 39, "version": 1, "refresh": refresh,
            "timezone": "browser", "time": {"from": begin, "to": "now"}, "timepicker": {},
            "fiscalYearStartMonth": 0, "liveNow": False, "weekStart": "", "links": [],
            "annotations": {"list": []}, "templating": {"list": variables}, "panels": []}

    def row(self, title):
        self.x, self.y, self.height = 0, self.y + self.height, 1
        self.value["panels"].append({
            "id": self._next(), "type": "row", "title": title, "collapsed": False, "panels": [],
            "gridPos": {"x": 0, "y": self.y, "w": 24, "h": 1}})
        self.y, self.height = self.y + 1, 0

    def panel(self, kind, title, targets, width, height=8, unit="none", decimals=None, options=None,
              custom=None, description="", transformations=None, steps=None, **defaults):
        if self.x + width > 24:
            self.x, self.y, self.height = 0, self.y + self.height, 0
        field = {"unit": unit, "custom": custom or {}, "mappings": [],
                 "color": {"mode": "thresholds" if steps else "palette-classic"},
                 "thresholds": {"mode": "absolute", "steps": steps or [{"color": "green", "value": None}]},
                 **defaults}
        if decimals is not None:
            field["decimals"] = decimals
        self.value["panels"].append({
            "id": self._next(), "type": kind, "title": title, "description": description,
            "datasource": self.source, "transparent": False,
            "gridPos": {"x": self.x, "y": self.y, "w": width, "h": height},
            "fieldConfig": {"defaults": field, "overrides": []}, "options": options or {},
            "targets": targets, "transformations": transformations or []})
        self.x, self.height = self.x + width, max(self.height, height)

    def _next(self):
        return len(self.value["panels"]) + 1


def source_variable(kind):
    return {"name": "datasource", "label": "Data source", "type": "datasource", "query": kind,
            "hide": 0, "refresh": 1, "regex": "", "multi": False, "includeAll": False,
            "skipUrlSync": False, "options": []}


def label_variable(name, metric, label):
    return {"name": name, "label": label, "type": "query", "datasource": PROMETHEUS,
            "query": {"query": f"label_values({metric}, {name})", "refId": "variable"},
            "hide": 0, "refresh": 2, "regex": "",
            "multi": True, "includeAll": True, "allValue": ".*", "sort": 1, "skipUrlSync": False,
            "options": [], "current": {"text": ["All"], "value": ["$__all"], "selected": True}}


def prom(expr, legend="", instant=False, letter="A"):
    return {"refId": letter, "datasource": PROMETHEUS, "expr": expr, "legendFormat": legend,
            "editorMode": "code", "instant": instant, "range": not instant,
            "format": "time_series"}


def api(path, columns, letter="A", rows="tables.rows"):
    """One answer of the API as a table; amounts are text there, and become numbers here."""
    return {"refId": letter, "datasource": API, "type": "json", "source": "url", "parser": "backend",
            "format": "table", "url": path, "url_options": {"method": "GET", "data": ""},
            "root_selector": rows, "filters": [],
            "columns": [{"selector": selector, "text": text, "type": kind}
                        for selector, text, kind in columns]}


STACKED = {"drawStyle": "line", "lineInterpolation": "stepAfter", "fillOpacity": 35, "lineWidth": 1,
           "stacking": {"mode": "normal", "group": "A"}, "showPoints": "never", "spanNulls": False}
LINE = {"drawStyle": "line", "fillOpacity": 8, "lineWidth": 2, "showPoints": "never"}
BARS = {"drawStyle": "bars", "fillOpacity": 80, "lineWidth": 0,
        "stacking": {"mode": "normal", "group": "A"}, "showPoints": "never"}
SERIES = {"legend": {"displayMode": "table", "placement": "right", "showLegend": True,
                     "calcs": ["lastNotNull", "mean"]},
          "tooltip": {"mode": "multi", "sort": "desc"}}
SMALL = {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
         "tooltip": {"mode": "multi", "sort": "desc"}}
STAT = {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "colorMode": "value", "graphMode": "area", "justifyMode": "auto", "textMode": "auto",
        "orientation": "auto", "wideLayout": True, "showPercentChange": False}
BAR = {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
       "displayMode": "gradient", "orientation": "horizontal", "showUnfilled": True,
       "valueMode": "color", "namePlacement": "auto", "sizing": "auto", "minVizWidth": 8,
       "minVizHeight": 16, "maxVizHeight": 300}
TABLE = {"showHeader": True, "cellHeight": "sm",
         "footer": {"show": True, "reducer": ["sum"], "countRows": False, "fields": ""}}
PIE = {"pieType": "donut", "displayLabels": ["percent"],
       "reduceOptions": {"calcs": [], "fields": "", "values": True},
       "legend": {"displayMode": "table", "placement": "right", "showLegend": True, "calcs": [],
                  "values": ["value", "percent"]},
       "tooltip": {"mode": "single", "sort": "none"}}
WARN = [{"color": "green", "value": None}, {"color": "orange", "value": 0.15},
        {"color": "red", "value": 0.3}]


def live():
    board = Dashboard(
        "pennyweight-live", "pennyweight: what runs now",
        "What an hour of every cluster costs, whose it is, and what of it nobody uses.",
        ["pennyweight", "gpu", "cost"], PROMETHEUS,
        [source_variable("prometheus"),
         label_variable("cluster", "pennyweight_cost_per_hour", "Cluster"),
         label_variable("currency", "pennyweight_cost_per_hour", "Currency")], "30s", "now-24h")
    rate = "pennyweight_cost_per_hour"
    held, idle = chosen(rate, 'kind="held"'), chosen(rate, 'kind="held_idle"')
    free = chosen(rate, 'kind="unallocated"')
    all_of_it = chosen(rate, 'kind=~"held|unallocated"')
    board.row("Now")
    board.panel("stat", "Cost per hour", [prom(f"sum by (currency) ({all_of_it})", "{{currency}}")],
                6, 5, MONEY, 2, STAT, description="Held and unallocated together.")
    board.panel("stat", "Idle", [prom(f"sum by (currency) ({idle})", "{{currency}}")],
                6, 5, MONEY, 2, STAT, description="Held by workloads that do not use it.")
    board.panel("stat", "Unallocated", [prom(f"sum by (currency) ({free})", "{{currency}}")],
                6, 5, MONEY, 2, STAT)
    board.panel("stat", "Wasted share",
                [prom(f"(sum by (currency) ({idle}) + sum by (currency) ({free})) / "
                      f"sum by (currency) ({all_of_it})", "{{currency}}")],
                6, 5, "percentunit", 1, STAT, steps=WARN,
                description="Idle and unallocated cost as a share of the total cost per hour.")
    board.row("By team")
    team = chosen("pennyweight_team_cost_per_hour")
    board.panel("timeseries", "Cost per hour by team",
                [prom(f"sum by (team, currency) ({team})", "{{team}} {{currency}}")],
                16, 10, MONEY, 2, SERIES, STACKED,
                description="The most expensive teams; all others are `others`.")
    board.panel("bargauge", "Teams now",
                [prom(f"sort_desc(sum by (team, currency) ({team}))", "{{team}} {{currency}}", True)],
                8, 10, MONEY, 2, BAR, min=0)
    board.row("By kind and cluster")
    board.panel("timeseries", "Cost per hour by kind",
                [prom(f"sum by (kind, currency) ({all_of_it})", "{{kind}} {{currency}}"),
                 prom(f"sum by (currency) ({idle})", "idle {{currency}}", letter="B")],
                12, 9, MONEY, 2, SMALL, LINE)
    board.panel("timeseries", "Cost per hour by cluster",
                [prom(f"sum by (cluster, currency) ({all_of_it})", "{{cluster}} {{currency}}")],
                12, 9, MONEY, 2, SMALL, STACKED)
    board.panel("timeseries", "A day at the mean rate of the last 24 hours, by team",
                [prom(f"24 * sum by (team, currency) (avg_over_time({team}[24h]))",
                      "{{team}} {{currency}}")],
                24, 9, MONEY, 2, SERIES, LINE,
                description="An estimate of rates. Actual daily costs are on the dashboard of "
                            "costs, from the ledger.")
    return board.value


def costs():
    board = Dashboard(
        "pennyweight-costs", "pennyweight: what it cost",
        "From the ledger, by pennyweight's API: costs of the chosen days.",
        ["pennyweight", "gpu", "cost"], API,
        [source_variable("yesoreyeram-infinity-datasource"),
         {"name": "by", "label": "Group by", "type": "custom", "query": "team,user,project,cluster,model",
          "hide": 0, "multi": False, "includeAll": False, "skipUrlSync": False,
          "options": [{"text": name, "value": name, "selected": name == "team"}
                      for name in ("team", "user", "project", "cluster", "model")],
          "current": {"text": "team", "value": "team", "selected": True}}], "5m", "now-30d")
    days = "from=${__from:date:YYYY-MM-DD}&to=${__to:date:YYYY-MM-DD}"
    cost = ("effective_cost", "Cost", "number")
    board.row("In the chosen time")
    board.panel("table", "Cost by ${by}",
                [api(f"/api/v1/costs?by=${{by}}&{days}",
                     [("${by}", "${by}", "string"), cost, ("gpu_hours", "GPU hours", "number")])],
                12, 11, MONEY, 2, TABLE)
    board.panel("piechart", "Shares by kind",
                [api(f"/api/v1/costs?by=kind&{days}", [("kind", "Kind", "string"), cost])],
                12, 11, MONEY, 2, PIE,
                description="Used, idle and unallocated cost.")
    board.row("Day by day")
    board.panel("timeseries", "Cost by day and ${by}",
                [api(f"/api/v1/costs?by=${{by}}&step=day&{days}",
                     [("day", "Day", "timestamp"), ("${by}", "${by}", "string"), cost])],
                24, 11, MONEY, 2, SERIES, BARS,
                transformations=[{"id": "prepareTimeSeries", "options": {"format": "multi"}}])
    board.row("Data quality")
    month = "month=${__to:date:YYYY-MM}"
    board.panel("table", "Reconciled with the bills of the month",
                [api(f"/api/v1/reconcile?{month}",
                     [("currency", "Currency", "string"), ("billed.effective", "Billed", "number"),
                      ("posted.effective", "Posted", "number"),
                      ("difference.effective", "Difference", "number"),
                      ("lines", "Charges", "number"), ("lines_off", "Charges off", "number")],
                     rows="totals")],
                12, 8, MONEY, 2, TABLE,
                description="The difference is 0 to the last digit, or a charge is not posted exactly.")
    board.panel("table", "What runs now",
                [api("/api/v1/live/now",
                     [("cluster", "Cluster", "string"), ("cost_per_hour", "Cost per hour", "number"),
                      ("held_idle_per_hour", "Idle", "number"),
                      ("unallocated_per_hour", "Unallocated", "number"),
                      ("gpus", "GPUs", "number"), ("gpus_busy", "Busy", "number")],
                     rows="clusters")],
                12, 8, MONEY, 2, TABLE)
    return board.value


def jobs():
    dimensions = ("user", "slurm_account", "partition", "qos", "state", "gpu_model", "cluster")
    board = Dashboard(
        "pennyweight-jobs", "pennyweight: jobs, hours and energy",
        "From the ledger, by pennyweight's API: what workloads held and what GPUs did in the chosen days.",
        ["pennyweight", "gpu", "jobs"], API,
        [source_variable("yesoreyeram-infinity-datasource"),
         {"name": "by", "label": "Group by", "type": "custom", "query": ",".join(dimensions),
          "hide": 0, "multi": False, "includeAll": False, "skipUrlSync": False,
          "options": [{"text": name, "value": name, "selected": name == "user"}
                      for name in dimensions],
          "current": {"text": "user", "value": "user", "selected": True}}], "5m", "now-30d")
    days = "from=${__from:date:YYYY-MM-DD}&to=${__to:date:YYYY-MM-DD}"
    key, day = ("${by}", "${by}", "string"), ("from", "Day", "timestamp")
    by_day = [{"id": "prepareTimeSeries", "options": {"format": "multi"}}]
    board.row("In the chosen time")
    board.panel("table", "Jobs and hours by ${by}",
                [api(f"/api/v1/activity?as=measures&by=${{by}}&{days}",
                     [key, ("jobs_started", "Started", "number"), ("jobs_ended", "Ended", "number"),
                      ("gpu_hours", "GPU-hours", "number"), ("cpu_hours", "CPU-hours", "number"),
                      ("memory_gib_hours", "Memory GiB-hours", "number"),
                      ("node_hours", "Node-hours", "number"), ("wall_hours", "Wall-hours", "number"),
                      ("wait_hours_mean", "Mean wait, hours", "number"),
                      ("seen_hours", "GPU-hours seen", "number"),
                      ("utilization", "Utilisation %", "number"),
                      ("utilization_p95", "p95 %", "number"), ("energy_kwh", "Energy kWh", "number")])],
                24, 12, "none", 2, {**TABLE, "footer": {**TABLE["footer"], "show": False}},
                description="Utilisation is of the GPU-hours that telemetry saw.")
    board.panel("table", "CPUs and memory requested and used by ${by}",
                [api(f"/api/v1/activity?as=efficiency&by=${{by}}&{days}",
                     [key, ("cpu_hours", "CPU-hours requested", "number"),
                      ("cpu_hours_known", "with known use", "number"),
                      ("cpu_hours_used", "used", "number"), ("cpu_efficiency", "CPU efficiency %", "number"),
                      ("memory_gib_hours", "Memory GiB-hours requested", "number"),
                      ("memory_gib_hours_used", "Memory GiB-hours used", "number"),
                      ("memory_efficiency", "Memory efficiency %", "number"),
                      ("memory_peak_efficiency", "Peak of memory %", "number")])],
                24, 9, "none", 2, {**TABLE, "footer": {**TABLE["footer"], "show": False}},
                description="Efficiency is used by requested, of the time whose use is known.")
    board.row("Day by day")
    for title, column, name in (("GPU-hours", "gpu_hours", "GPU-hours"),
                                ("CPU-hours", "cpu_hours", "CPU-hours"),
                                ("Energy, kWh", "energy_kwh", "kWh"),
                                ("Jobs started", "jobs_started", "Jobs")):
        board.panel("timeseries", f"{title} by day and ${{by}}",
                    [api(f"/api/v1/activity?as=measures&by=${{by}}&step=day&{days}",
                         [day, key, (column, name, "number")])],
                    12, 9, "none", 2, SMALL, BARS, transformations=by_day)
    return board.value


def service():
    board = Dashboard(
        "pennyweight-service", "pennyweight: the service itself",
        "Whether pennyweight accepts telemetry and answers requests.",
        ["pennyweight"], PROMETHEUS, [source_variable("prometheus")], "30s", "now-6h")
    rate = "$__rate_interval"
    board.row("Health")
    board.panel("stat", "Version", [prom("pennyweight_build_info", "{{version}}", True)], 6, 4,
                options={**STAT, "textMode": "name", "graphMode": "none"})
    board.panel("stat", "Age of the live view", [prom("pennyweight_view_age_seconds", "")], 6, 4, "s", 0,
                STAT, steps=[{"color": "green", "value": None}, {"color": "orange", "value": 60},
                             {"color": "red", "value": 300}])
    board.panel("stat", "Journal refuses writes", [prom("pennyweight_journal_refuses", "")], 6, 4,
                options=STAT, steps=[{"color": "green", "value": None}, {"color": "red", "value": 1}],
                description="1: nothing is acknowledged until the disk is healthy again.")
    board.panel("stat", "Devices", [prom("pennyweight_devices", "")], 6, 4, "short", 0, STAT)
    board.row("Incoming data")
    board.panel("timeseries", "Bytes received by path",
                [prom(f"sum by (path) (rate(pennyweight_http_received_bytes_total[{rate}]))", "{{path}}")],
                12, 8, "Bps", options=SMALL, custom=LINE)
    board.panel("timeseries", "Incomplete samples, by what is missing",
                [prom(f"sum by (why) (rate(pennyweight_unusable_samples_total[{rate}]))", "{{why}}")],
                12, 8, "cps", options=SMALL, custom=LINE)
    board.panel("timeseries", "Series and accumulators",
                [prom("pennyweight_series", "series"),
                 prom("pennyweight_accumulators", "accumulators", letter="B")],
                12, 8, "short", options=SMALL, custom=LINE)
    board.panel("timeseries", "Waiting in the journal",
                [prom("pennyweight_journal_bytes", "journal"),
                 prom("pennyweight_pending_bytes", "for the ledger", letter="B"),
                 prom("pennyweight_snapshot_bytes", "snapshot", letter="C")],
                12, 8, "bytes", options=SMALL, custom=LINE)
    board.panel("timeseries", "Flushes",
                [prom(f"rate(pennyweight_flushes_total[{rate}])", "done"),
                 prom(f"rate(pennyweight_failed_flushes_total[{rate}])", "failed", letter="B")],
                12, 8, "cps", options=SMALL, custom=LINE)
    board.panel("timeseries", "Written into the ledger",
                [prom(f"sum by (what) (rate(pennyweight_ledger_total[{rate}]))", "{{what}}")],
                12, 8, "cps", options=SMALL, custom=LINE)
    board.row("Requests")
    board.panel("timeseries", "Requests by path",
                [prom(f"sum by (path) (rate(pennyweight_http_requests_total[{rate}]))", "{{path}}")],
                12, 8, "reqps", options=SMALL, custom=LINE)
    board.panel("timeseries", "Refused and failed, by path and status",
                [prom(f'sum by (path, status) (rate(pennyweight_http_requests_total{{status=~"4..|5.."}}[{rate}]))',
                      "{{path}} {{status}}")],
                12, 8, "reqps", options=SMALL, custom=LINE)
    board.panel("timeseries", "Processor", [prom(f"rate(process_cpu_seconds_total[{rate}])", "cores")],
                12, 8, "short", options=SMALL, custom=LINE)
    board.panel("timeseries", "Memory", [prom("process_resident_memory_bytes", "resident")],
                12, 8, "bytes", options=SMALL, custom=LINE)
    return board.value


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for name, made in {"live": live, "costs": costs, "jobs": jobs, "service": service}.items():
        text = json.dumps(made(), indent=1, ensure_ascii=False) + "\n"
        (folder / f"pennyweight-{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
