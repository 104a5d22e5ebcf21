"""What a ledger file has of usage, and what it must have after the samples that were acknowledged.

The file is read through sql_tool once `serve` has ended: DuckDB lends a file to one process.
must_say() works the same out from samples, the slow and plain way, by the rules that
docs/ARCHITECTURE.md states: a value holds until its series' next sample and no longer than so many
intervals, the mark of the end ends it, what is no value is as if it had not come, a counter's
increase is counted where it was seen.
"""
import csv
import math
import os
import subprocess
import tempfile

import fleet_truth

WHOLE = ("span_ms", "part", "gpu_util_ppm", "engine_active_ppm", "sm_active_ppm",
         "tensor_active_ppm", "dram_active_ppm", "memory_used_bytes", "memory_total_bytes",
         "memory_reserved_bytes", "power_milliwatts", "energy_millijoules",
         "energy_used_millijoules", "temperature_celsius", "sm_clock_mhz", "at_ms")


def table(sql_tool, path, select):
    """The rows of a SELECT as dicts of text; None for NULL."""
    with tempfile.TemporaryDirectory() as where:
        out = os.path.join(where, "rows.csv")
        done = subprocess.run([str(sql_tool), str(path), f"COPY ({select}) TO '{out}' "
                               "(FORMAT CSV, HEADER, NULLSTR '\\N')"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{path}: {select}: {done.stderr}")
        with open(out, newline="") as rows:
            return [{name: None if value == "\\N" else value for name, value in row.items()}
                    for row in csv.DictReader(rows)]


def usages(sql_tool, path, gpu=None):
    """Spans of usage, of one GPU or of all; measurements as whole numbers."""
    of_gpu = f"AND gpu = '{gpu}' " if gpu else ""
    rows = table(sql_tool, path, "SELECT *, epoch_ms(observed_at) AS at_ms FROM usages "
                                 f"WHERE span_ms > 0 {of_gpu}ORDER BY ALL")
    for row in rows:
        for name in WHOLE:
            if row.get(name) is not None:
                row[name] = int(row[name])
    return rows


def sums(rows, column, resolution_ms):
    """{(gpu, instance, workload): {bucket's begin: [value × ms, ms]}} of one column."""
    found = {}
    for row in rows:
        if row[column] is None:
            continue
        series = found.setdefault((row["gpu"], row["mig_instance"] or "", row["workload"] or ""),
                                  {})
        bucket = series.setdefault(row["at_ms"] // resolution_ms * resolution_ms, [0, 0])
        bucket[0] += row[column] * row["span_ms"]
        bucket[1] += row["span_ms"]
    return found


def energy(rows):
    """{gpu: mJ}."""
    found = {}
    for row in rows:
        if row["energy_used_millijoules"] is not None:
            found[row["gpu"]] = found.get(row["gpu"], 0) + row["energy_used_millijoules"]
    return found


def overlaps(rows, column):
    """Pairs of rows that cover the same time of the same device: it would count twice."""
    found = []
    by_series = {}
    for row in rows:
        if row[column] is not None:
            by_series.setdefault((row["gpu"], row["mig_instance"], row["workload"]), []).append(row)
    for series in by_series.values():
        series.sort(key=lambda row: (row["at_ms"], row["span_ms"]))
        for before, after in zip(series, series[1:]):
            if after["at_ms"] < before["at_ms"] + before["span_ms"]:
                found.append((before, after))
    return found


# ------------------------------------------------------------------------------ what it must have

_SHARES = {"DCGM_FI_PROF_GR_ENGINE_ACTIVE": "engine_active_ppm",
           "DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO": "engine_active_ppm",
           "DCGM_FI_PROF_SM_ACTIVE": "sm_active_ppm",
           "DCGM_FI_PROF_SM_UTIL_RATIO": "sm_active_ppm",
           "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": "tensor_active_ppm",
           "DCGM_FI_PROF_TENSOR_UTIL_RATIO": "tensor_active_ppm",
           "DCGM_FI_PROF_DRAM_ACTIVE": "dram_active_ppm",
           "DCGM_FI_PROF_DRAM_UTIL_RATIO": "dram_active_ppm"}
_PERCENT = {"DCGM_FI_DEV_GPU_UTIL": "gpu_util_ppm", "DCGM_FI_DEV_GPU_UTIL_RATIO": "gpu_util_ppm"}
_SCALES = {**{name: (column, 1e6) for name, column in _SHARES.items()},
           **{name: (column, 1e4) for name, column in _PERCENT.items()},
           "DCGM_FI_DEV_FB_USED": ("memory_used_bytes", 2**20)}
_ENERGY = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
COLUMNS = sorted({column for column, _ in _SCALES.values()})


def _workload(labels):
    """As Prometheus' honor_labels makes it: `exported_pod` where `pod` is the exporter's own."""
    own = labels.get("exported_pod") is not None
    pod = labels.get("exported_pod" if own else "pod", "")
    space = labels.get("exported_namespace" if own else "namespace", "")
    if "exporter" in pod:
        return ""
    return f"{space}/{pod}" if pod else ""


def _is_blank(value):
    return math.isnan(value) or value >= 2147483632 and value in (
        fleet_truth.BLANK_INT32, float(fleet_truth.BLANK_INT64_NOT_SUPPORTED),
        fleet_truth.BLANK_FP64_NOT_FOUND)


def _series(samples, name):
    """{(gpu, instance, workload): sorted (ms, value or None)}: copies of a series are one."""
    found = {}
    for pairs, kept in samples.items():
        labels = dict(pairs)
        if labels["__name__"] != name or "UUID" not in labels:
            continue
        key = (labels["UUID"], labels.get("GPU_I_ID", ""), _workload(labels))
        merged = found.setdefault(key, {})
        for at_ms, value in kept.items():
            if value is None or not _is_blank(value):
                merged.setdefault(at_ms, value)
    return {key: sorted(merged.items()) for key, merged in found.items()}


def must_say(samples, column, resolution_ms, longest_ms):
    """As sums(), from {labels: {ms: value}}; means are exact numbers of the column's unit."""
    found = {}
    for name, (its_column, scale) in _SCALES.items():
        if its_column != column:
            continue
        for key, series in _series(samples, name).items():
            buckets = found.setdefault(key, {})
            first = series[0][0] // resolution_ms * resolution_ms
            last = series[-1][0] + longest_ms
            for begin in range(first, last, resolution_ms):
                mean, known = fleet_truth.held_mean(series, begin, begin + resolution_ms,
                                                    longest_ms)
                if known:
                    buckets[begin] = [mean * scale * known, known]
    return found


def energy_must_say(samples):
    """{gpu: mJ} from first to last reading; instances and pods repeat the counter of the GPU."""
    merged = {}
    for (gpu, _, _), series in _series(samples, _ENERGY).items():
        readings = merged.setdefault(gpu, {})
        for at_ms, value in series:
            if value is not None:
                readings[at_ms] = int(value)
    return {gpu: fleet_truth.counted(sorted(readings.items()))
            for gpu, readings in merged.items()}
