#!/usr/bin/env python3
"""Writes the GPU demand of public traces as series for bench_forecast --series.

usage: forecast_series.py FOLDER >series.csv

FOLDER holds philly/, helios_earth/ and openb/ as their authors publish them. Each line is a name,
hour or day, and the GPU-hours of each step.
"""
import collections
import csv
import datetime
import sys

HOUR = 3600
DAY = 86400


def emit(name, step, values):
    print(name, step, *("%.6g" % value for value in values), sep=",")


def gpu_hours(jobs, step, steps):
    """The GPU-hours of each step of jobs (begin, end, GPUs), in seconds from the first step."""
    sums = [0.0] * steps
    for begin, end, gpus in jobs:
        begin, end = max(begin, 0), min(end, steps * step)
        while begin < end:
            at = int(begin // step)
            until = min(end, (at + 1) * step)
            sums[at] += gpus * (until - begin) / HOUR
            begin = until
    return sums


def philly(folder):
    jobs = collections.defaultdict(list)
    first = datetime.datetime(2017, 10, 1)
    for row in csv.DictReader(open(folder + "/philly/philly_2017-10-01_14.csv")):
        begin = (datetime.datetime.fromisoformat(row["timestamp"]) - first).total_seconds()
        job = (begin, begin + float(row["duration"]), int(row["num_gpus"]))
        jobs[row["cluster"]].append(job)
        jobs["all"].append(job)
    for name, listed in sorted(jobs.items()):
        emit("philly/" + name, "hour", gpu_hours(listed, HOUR, 14 * 24))


def helios(folder):
    for cluster in ["vc6YE", "vcJkd", "vcgkz", "vcvlY"]:
        rows = list(csv.DictReader(open(f"{folder}/helios_earth/{cluster}.csv")))
        used = [float(row["running_gpu_num"]) for row in rows]
        wanted = [float(row["running_gpu_num"]) + float(row["pending_gpu_num"]) for row in rows]
        for kind, minutes in (("used", used), ("demand", wanted)):
            hours = [sum(minutes[i:i + 60]) / 60 for i in range(0, len(minutes), 60)]
            emit(f"helios/{cluster}/{kind}", "hour", hours)
            days = [sum(hours[i:i + 24]) for i in range(0, len(hours), 24)]
            emit(f"helios/{cluster}/{kind}", "day", days)


def openb(folder):
    jobs = collections.defaultdict(list)
    end = 0
    for row in csv.DictReader(open(folder + "/openb/openb_pod_list_gpushare60.csv")):
        gpus = int(row["num_gpu"]) * int(row["gpu_milli"] or 0) / 1000
        if not row["scheduled_time"] or gpus <= 0:
            continue
        job = (float(row["scheduled_time"]), float(row["deletion_time"]), gpus)
        end = max(end, job[1])
        jobs[row["qos"]].append(job)
        jobs["all"].append(job)
    days = int(end // DAY)
    for name, listed in sorted(jobs.items()):
        if len(listed) < 30:
            continue
        # The cluster was nearly empty in the first months.
        emit("openb/" + name, "hour", gpu_hours(listed, HOUR, days * 24)[-28 * 24:])
        emit("openb/" + name, "day", gpu_hours(listed, DAY, days))


if __name__ == "__main__":
    philly(sys.argv[1])
    helios(sys.argv[1])
    openb(sys.argv[1])
