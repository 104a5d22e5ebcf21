"""Energy of captures of an A100 with MIG, an H100 with MIG, an MI300X in partitions and a whole H200:
counted once a GPU, whatever rows repeat it, and given to workloads by the part of the compute that
each holds; beside the energy counter of a real GPU."""
import csv
import datetime
import io
import json
import os
import re
from fractions import Fraction

from harness import ROOT, expect, expect_run, folder, report

DATA = os.path.join(ROOT, "tests", "data")
MICROJOULE = Fraction(1, 1_000_000)
HOLD = 150  # seconds: a reading holds for 2.5 intervals of a minute
NODES = "node,gpu_model,gpu_count,vcpu,memory_gib,from\n"


def usage(cwd, by, day):
    """The rows' energy in joules, and all of it."""
    out, _ = expect_run(["usage", "--by", by, "--from", day, "--to", day, "--format", "csv"], cwd)
    rows = list(csv.DictReader(io.StringIO(out)))
    joules = {row[by.split(",")[-1]]: Fraction(row["energy_kwh_exact"] or 0) * 3_600_000
              for row in rows}
    expect(len(joules) == len(rows), f"the rows by {by} have different names")
    return joules, sum(joules.values())


def a100_mig():
    """dcgm-exporter repeats the GPU's power and counter on each instance's row."""
    cwd = folder()
    with open(os.path.join(DATA, "dcgm", "a100_mig_active_1g5gb.prom")) as file:
        capture = file.read()
    watts = Fraction(re.search(r"DCGM_FI_DEV_POWER_USAGE\{.*\} (\S+)", capture).group(1))
    counter = int(re.search(r"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION\{.*\} (\d+)", capture).group(1))
    gpu = re.search('UUID="([^"]+)"', capture).group(1)
    (cwd / "n.csv").write_text(NODES + "n1,NVIDIA A100-SXM4-40GB,1,16,64,2026-03-02\n")
    (cwd / "g.csv").write_text("node,uuid,index,model,mig,from\n"
                               f"n1,{gpu},0,NVIDIA A100-SXM4-40GB,{gpu}/gi9=1g.5gb;{gpu}/gi1=3g.20gb,"
                               "2026-03-01\n")
    (cwd / "h.csv").write_text(f"workload,begin,end,mig\nsmall,2026-03-02,2026-03-03,{gpu}/gi9\n"
                               f"large,2026-03-02,2026-03-03,{gpu}/gi1\n")
    for name in ("n.csv", "g.csv", "h.csv"):
        expect_run(["import", "--cluster", "c", name], cwd)
    minutes = 10
    for minute in range(minutes):
        # The counter goes on as the power says; the second instance repeats both.
        text = capture.replace(f" {counter}\n", f" {counter + int(watts * 1000) * 60 * minute}\n")
        text = text.rstrip("\n") + "\n"
        text += "".join(line.replace('GPU_I_ID="9"', 'GPU_I_ID="1"').replace("1g.5gb", "3g.20gb") + "\n"
                        for line in text.split("\n") if "ENERGY" in line or "POWER" in line
                        if not line.startswith("#"))
        (cwd / "scrape.prom").write_text(text)
        expect_run(["import", "--cluster", "c", "--node", "n1", "--at",
                    f"2026-03-02T00:{minute:02}:00Z", "scrape.prom"], cwd)
    # Nine minutes by the counter, then the last power for as long as a reading holds.
    want = int(watts * 1000) * Fraction(60, 1000) * (minutes - 1) + watts * HOLD
    joules, total = usage(cwd, "workload", "2026-03-02")
    expect(abs(total - want) < 8 * MICROJOULE, f"A100: {float(total)} J, not {float(want)}")
    for who, sevenths in (("small", 1), ("large", 3), ("(nobody)", 3)):
        expect(abs(joules.get(who, 0) - want * sevenths / 7) < 8 * MICROJOULE,
               f"A100: {sevenths}/7 to {who}: { {k: float(v) for k, v in joules.items()} }")
    for by in ("node", "gpu,instance"):
        other = usage(cwd, by, "2026-03-02")[1]
        expect(abs(total - other) < MICROJOULE, f"A100: the same by {by}: {other} J, not {total} J")


def power_readings(text):
    """(second of the day, watts) of each table and each query in a capture of nvidia-smi."""
    found, at = {}, None
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if re.match(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} +\d+ [\d:]{8} \d{4}", line):
            at = datetime.datetime.strptime(" ".join(line.split()), "%a %b %d %H:%M:%S %Y")
        table = re.search(r"\| *\S+ +\S+ +P\d+ +(\d+)W */", line)
        if table and at:
            found[at] = Fraction(table.group(1))
        if line.startswith("timestamp,") and "power.draw [W]" in line:
            columns = [name.strip() for name in line.split(",")]
            row = [value.strip() for value in lines[number + 1].split(",")]
            when = datetime.datetime.strptime(row[0], "%Y/%m/%d %H:%M:%S.%f")
            found[when] = Fraction(row[columns.index("power.draw [W]")].split()[0])
    return sorted((Fraction((at - at.replace(hour=0, minute=0, second=0, microsecond=0)) /
                            datetime.timedelta(milliseconds=1)) / 1000, watts)
                  for at, watts in found.items())


def h100_mig():
    """nvidia-smi says the GPU's power, and its MIG devices nothing of it."""
    cwd = folder()
    path = os.path.join(DATA, "nvidia_smi", "h100-mig.txt")
    with open(path) as file:
        readings = power_readings(file.read())
    expect(len(readings) == 4, f"power readings of the capture: {readings}")
    expect_run(["import", "--cluster", "c", "--node", "n1", path], cwd)
    (cwd / "n.csv").write_text(NODES + "n1,NVIDIA H100 80GB HBM3,1,16,64,2026-07-14\n")
    (cwd / "h.csv").write_text("workload,begin,end,mig\nw,2026-07-14T09:00:00Z,2026-07-14T10:00:00Z,"
                               "MIG-00000001-0000-0000-0000-000000000001\n")
    for name in ("n.csv", "h.csv"):
        expect_run(["import", "--cluster", "c", name], cwd)
    want = Fraction(0)
    for (at, watts), later in zip(readings, [*readings[1:], None]):
        until = min(at + HOLD, later[0]) if later else at + HOLD
        want += watts * (until - at)
    joules, total = usage(cwd, "workload", "2026-07-14")
    expect(abs(total - want) < 8 * MICROJOULE, f"H100: {float(total)} J, not {float(want)}")
    expect(abs(joules.get("w", 0) - want * 2 / 7) < 8 * MICROJOULE,
           f"H100: two sevenths to the holder of 2g.20gb: { {k: float(v) for k, v in joules.items()} }")


def mi300_partitions():
    """amd-smi in CPX mode repeats the socket's power on each of eight partitions."""
    cwd = folder()
    uuid = "4eff74a1-0000-1000-803d-ea0b8d1c5a7b"
    listed = [{"gpu": i, "bdf": f"0000:0C:00.{i}", "uuid": uuid, "partition_id": i} for i in range(8)]
    static = [{"gpu": 0, "asic": {"market_name": "AMD Instinct MI300X"},
               "vram": {"size": {"value": 196592, "unit": "MB"}},
               "partition": {"accelerator_partition": "CPX", "memory_partition": "NPS4",
                             "partition_id": 0}}]
    (cwd / "n.csv").write_text(NODES + "n1,AMD Instinct MI300X,1,16,64,2026-03-02\n")
    (cwd / "h.csv").write_text("workload,begin,end,node,devices,fraction\n"
                               + "".join(f"part-{i},2026-03-02,2026-03-03,n1,1,1/8\n" for i in range(2)))
    for name in ("n.csv", "h.csv"):
        expect_run(["import", "--cluster", "c", name], cwd)
    minutes = 5
    for minute in range(minutes):
        metric = {"gpu_data": [
            {"gpu": i, "usage": {"gfx_activity": {"value": 10 * i, "unit": "%"}},
             "power": {"socket_power": {"value": 560, "unit": "W"}},
             "energy": {"total_energy_consumption":
                        {"value": 1000 + 560 * 60 * minute, "unit": "J"} if i == 0 else "N/A"},
             "mem_usage": {"total_vram": {"value": 24574, "unit": "MB"},
                           "used_vram": {"value": 1000 + i, "unit": "MB"}}} for i in range(8)]}
        (cwd / "amd.json").write_text("\n".join(map(json.dumps, (listed, static, metric))))
        expect_run(["import", "--cluster", "c", "--node", "n1", "--at",
                    f"2026-03-02T00:{minute:02}:00Z", "amd.json"], cwd,
                   has=["amd-smi", "1 GPU: 1 new", "9 usage samples: 9 new"])
    want = Fraction(560) * (60 * (minutes - 1) + HOLD)
    joules, total = usage(cwd, "workload", "2026-03-02")
    expect(abs(total - want) < 8 * MICROJOULE, f"MI300X: {float(total)} J, not {float(want)}")
    for who, eighths in (("part-0", 1), ("part-1", 1), ("(nobody)", 6)):
        expect(abs(joules.get(who, 0) - want * eighths / 8) < 8 * MICROJOULE,
               f"MI300X: {eighths}/8 to {who}: { {k: float(v) for k, v in joules.items()} }")
    expect_run(["import", "--cluster", "c", "amd.json"], cwd, code=2, has=["--node"])



def h200_counter():
    """A whole H200 read once a second, idle and under loads of two processes, beside its own energy
    counter: what the job is given is what the counter says of its time."""
    cwd = folder()
    path = os.path.join(DATA, "nvidia_smi", "h200-under-load.csv")
    with open(os.path.join(DATA, "nvidia_smi", "h200-energy-counter.csv")) as file:
        counter = [(Fraction(row["unix_seconds"]), Fraction(row["energy_millijoules"]) / 1000)
                   for row in csv.DictReader(file)]
    with open(path) as file:
        gpu = file.readlines()[1].split(", ")[2]
    begin, end = "2026-11-27T00:04:15Z", "2026-11-27T00:06:00Z"
    (cwd / "n.csv").write_text(NODES + "n1,NVIDIA H200,1,16,64,2026-11-27\n")
    (cwd / "h.csv").write_text(f"workload,begin,end,gpu\nw,{begin},{end},{gpu}\n")
    expect_run(["import", "--cluster", "c", "n.csv"], cwd)
    out, _ = expect_run(["import", "--cluster", "c", "--node", "n1", path], cwd,
                        has=["129 usage samples: 129 new"])
    expect("when it was captured" not in out, f"each reading has its time: {out}")
    expect_run(["import", "--cluster", "c", "h.csv"], cwd)

    def counted(text):
        at = Fraction(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())
        (since, low), (until, high) = next((a, b) for a, b in zip(counter, counter[1:])
                                           if a[0] <= at <= b[0])
        return low + (high - low) * (at - since) / (until - since)

    want = counted(end) - counted(begin)
    joules, _ = usage(cwd, "workload", "2026-11-27")
    expect(abs(joules.get("w", 0) - want) <= want / 100,
           f"H200: {float(joules.get('w', 0))} J, where its counter says {float(want)}")
    print(f"H200: {float(joules['w']):.0f} J by readings, {float(want):.0f} J by the counter")


a100_mig()
h100_mig()
mi300_partitions()
h200_counter()
report("energy")
