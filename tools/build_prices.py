#!/usr/bin/env python3
"""Builds data/prices/rates.csv and instance_types.csv from the raw public lists.

usage: build_prices.py RAW_DIR     (the lists named in data/prices/README.md)

The raw lists are not in the repository, because most of their rows repeat an unchanged price. This
script writes one row for each change of a price. Numbers pass through decimal.Decimal, never through
a float. Rows that cannot be used are counted and reported.
"""
import collections
import csv
import decimal
import json
import pathlib
import re
import sys

decimal.getcontext().prec = 60
EIGHTEEN_DIGITS = decimal.Decimal("1e-18")
HOURS_PER_MONTH = decimal.Decimal(730)  # the convention of the list that has monthly prices

# AWS's name and memory (MiB) of a GPU to our model name (data/fleet/gpu_catalog.csv).
AWS_MODELS = {
    ("t4", 16384): "T4", ("t4g", 16384): "T4G", ("a10g", 22888): "A10G", ("l40s", 45776): "L40S",
    ("v100", 32768): "V100-SXM2-32GB", ("a100", 40960): "A100-SXM4-40GB",
    ("a100", 81920): "A100-SXM4-80GB", ("h100", 81920): "H100-SXM5-80GB",
    ("h200", 144384): "H200-SXM-141GB", ("b200", 183359): "B200-SXM-180GB",
    ("b300", 275040): "B300-SXM-269GB", ("rtx-pro-4500", 32768): "RTX-PRO-4500-BLACKWELL-32GB",
    ("rtx-pro-server-6000", 98304): "RTX-PRO-6000-BLACKWELL-96GB", ("l4", 22888): "L4",
    ("radeon-pro-v520", 8192): "RADEON-PRO-V520",
}
# Fractions of an L4 that AWS sells as one device, by the memory they show.
L4_PARTS = {2861: "L4 1/8", 5722: "L4 1/4", 11444: "L4 1/2"}
# Types that AWS no longer lists: GPU model, GPUs, vCPU, GiB (AWS, EC2 instance types).
AWS_RETIRED = {
    "g3s.xlarge": ("M60-8GB", 1, 4, "30.5"), "g3.4xlarge": ("M60-8GB", 1, 16, "122"),
    "g3.8xlarge": ("M60-8GB", 2, 32, "244"), "g3.16xlarge": ("M60-8GB", 4, 64, "488"),
    "p2.xlarge": ("K80-12GB", 1, 4, "61"), "p2.8xlarge": ("K80-12GB", 8, 32, "488"),
    "p2.16xlarge": ("K80-12GB", 16, 64, "732"), "p3.2xlarge": ("V100-SXM2-16GB", 1, 8, "61"),
    "p3.8xlarge": ("V100-SXM2-16GB", 4, 32, "244"),
    "p3.16xlarge": ("V100-SXM2-16GB", 8, 64, "488"),
}
GCP_MODELS = {
    "a100": "A100-SXM4-40GB", "a100-80gb": "A100-SXM4-80GB", "h100-80gb": "H100-SXM5-80GB",
    "h100-80gb-mega": "H100-SXM5-80GB", "l4": "L4", "rtx6000": "RTX-PRO-6000-BLACKWELL-96GB",
}
FRACTIONS = {"0.125": "1/8", "0.25": "1/4", "0.5": "1/2"}
# GPU model, GPUs and GiB of Azure's sizes (Microsoft, GPU accelerated virtual machine sizes); the name
# contains the vCPU.
AZURE_SIZES = {
    "Standard_NC4as_T4_v3": ("T4", 1, 28), "Standard_NC8as_T4_v3": ("T4", 1, 56),
    "Standard_NC16as_T4_v3": ("T4", 1, 110), "Standard_NC64as_T4_v3": ("T4", 4, 440),
    "Standard_NC6s_v3": ("V100-PCIE-16GB", 1, 112), "Standard_NC12s_v3": ("V100-PCIE-16GB", 2, 224),
    "Standard_NC24s_v3": ("V100-PCIE-16GB", 4, 448), "Standard_NC24rs_v3": ("V100-PCIE-16GB", 4, 448),
    "Standard_NC24ads_A100_v4": ("A100-PCIE-80GB", 1, 220),
    "Standard_NC48ads_A100_v4": ("A100-PCIE-80GB", 2, 440),
    "Standard_NC96ads_A100_v4": ("A100-PCIE-80GB", 4, 880),
    "Standard_NC40ads_H100_v5": ("H100-NVL-94GB", 1, 320),
    "Standard_NC80adis_H100_v5": ("H100-NVL-94GB", 2, 640),
    "Standard_NCC40ads_H100_v5": ("H100-NVL-94GB", 1, 320),
    "Standard_ND40rs_v2": ("V100-SXM2-32GB", 8, 672),
    "Standard_ND96asr_v4": ("A100-SXM4-40GB", 8, 900),
    "Standard_ND96amsr_A100_v4": ("A100-SXM4-80GB", 8, 1900),
    "Standard_ND96isr_H100_v5": ("H100-SXM5-80GB", 8, 1900),
    "Standard_ND96isr_H200_v5": ("H200-SXM-141GB", 8, 1850),
    "Standard_ND96isr_MI300X_v5": ("MI300X", 8, 1850),
    "Standard_NV36ads_A10_v5": ("A10", 1, 440), "Standard_NV72ads_A10_v5": ("A10", 2, 880),
    "Standard_NV36adms_A10_v5": ("A10", 1, 880),
    "Standard_NV6ads_A10_v5": ("A10 1/6", 1, 55), "Standard_NV12ads_A10_v5": ("A10 1/3", 1, 110),
    "Standard_NV18ads_A10_v5": ("A10 1/2", 1, 220),
}
# Oracle prices GPUs by the hour, and a shape has several. Shape: part number, GPU model, GPUs, OCPU, GB
# (Oracle, compute shapes). One OCPU is two vCPU.
OCI_SHAPES = {
    "VM.GPU2.1": ("B88518", "P100-SXM2-16GB", 1, 12, 72), "BM.GPU2.2": ("B88517", "P100-SXM2-16GB", 2, 28, 192),
    "VM.GPU3.1": ("B89734", "V100-SXM2-16GB", 1, 6, 90), "VM.GPU3.2": ("B89734", "V100-SXM2-16GB", 2, 12, 180),
    "VM.GPU3.4": ("B89734", "V100-SXM2-16GB", 4, 24, 360), "BM.GPU3.8": ("B89734", "V100-SXM2-16GB", 8, 52, 768),
    "BM.GPU4.8": ("B92740", "A100-SXM4-40GB", 8, 64, 2048),
    "BM.GPU.A100-v2.8": ("B95907", "A100-SXM4-80GB", 8, 128, 2048),
    "VM.GPU.A10.1": ("B95909", "A10", 1, 15, 240), "VM.GPU.A10.2": ("B95909", "A10", 2, 30, 480),
    "BM.GPU.A10.4": ("B95909", "A10", 4, 64, 1024),
    "BM.GPU.H100.8": ("B98415", "H100-SXM5-80GB", 8, 112, 2048),
}
# Names of the multi-cloud list that mean one model of gpu_catalog.csv; others stay as listed.
LISTED_MODELS = {
    "T4 (16 GB)": "T4", "L4 (24 GB)": "L4", "A10": "A10", "A10 (24 GB)": "A10", "A10G (24 GB)": "A10G",
    "A40 (48 GB)": "A40", "K80 (12 GB)": "K80-12GB", "P4 (8 GB)": "P4", "A4000 (16 GB)": "RTX-A4000",
    "A5000 (24 GB)": "RTX-A5000", "A6000 (48 GB)": "RTX-A6000", "RTX A6000 (48 GB)": "RTX-A6000",
    "H100 HGX (80GB)": "H100-SXM5-80GB", "H100 PCIe (80GB)": "H100-PCIE-80GB",
    "GH200 (96 GB)": "GH200-96GB", "RTX4000 (8 GB)": "QUADRO-RTX-4000",
    "RTX5000 (16 GB)": "QUADRO-RTX-5000", "Quadro RTX 6000 (24 GB)": "QUADRO-RTX-6000",
}
MULTI_CLOUD_DATE = "2025-03-07"

rates = {}  # (provider, type, region, option) -> [(from, price, source)]
types = {}  # (provider, type) -> (model, count, vcpu, gib)
skipped = collections.Counter()


def plain(number):
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def add_rate(provider, region, name, option, date, price, source):
    if price in ("", None):
        return
    price = decimal.Decimal(price)
    if price <= 0:
        skipped["price of zero: " + source] += 1
        return
    rates.setdefault((provider, name, region, option), []).append((date, price, source))


def add_type(provider, name, model, count, vcpu, gib):
    assert "," not in model, model
    types.setdefault((provider, name), (model, str(count), str(vcpu), str(gib)))


def read(folder, name):
    with open(folder / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def aws(folder):
    for row in read(folder, "aws_gpu_instances_us-east-1.csv"):
        if row["accelerator_kind"] != "gpu":
            skipped["AWS accelerator that is no GPU"] += 1
            continue
        name, memory, count = row["accelerator_name"], int(row["accelerator_memory_mib_each"]), row["accelerator_count"]
        if name == "l4" and memory in L4_PARTS:
            model, count = L4_PARTS[memory], "1"
        else:
            model = AWS_MODELS[name, memory]
        gib = plain(decimal.Decimal(row["memory_mib"]) / 1024)
        add_type("aws", row["instance_type"], model, count, row["vcpu"], gib)
    for name, shape in AWS_RETIRED.items():
        add_type("aws", name, *shape)
    for row in read(folder, "aws_gpu_ondemand_price_changes_us-east-1.csv"):
        add_rate("aws", row["region"], row["instance_type"], "on_demand", row["first_seen_date"],
                 row["usd_per_hour"], "aws-changes")
    for row in read(folder, "aws_ondemand_us-east-1_karpenter_2026-07-20.csv"):
        add_rate("aws", row["region"], row["instance_type"], "on_demand", row["generated_at"][:10],
                 row["usd_per_hour"], "aws-list")


def gcp(folder):
    for row in read(folder, "gcp_gpu_price_history_biweekly_5regions.csv"):
        for option, column in (("on_demand", "usd_hour"), ("spot", "usd_hour_spot")):
            add_rate("gcp", row["region"], row["machine_type"], option, row["snapshot_date"],
                     row[column], "gcp-history")
    for row in read(folder, "gcp_gpu_prices_allregions_2026-07-30.csv"):
        name, region = row["machine_type"], row["region"]
        model, count = GCP_MODELS[row["gpu"]], row["gpu_count"]
        if count in FRACTIONS:
            model, count = f"{model} {FRACTIONS[count]}", "1"
        add_type("gcp", name, model, count, row["vcpu"], row["ram_gb"])
        for option, column in (("on_demand", "usd_hour"), ("spot", "usd_hour_spot")):
            add_rate("gcp", region, name, option, "2026-07-30", row[column], "gcp-list")
        for option, column in (("committed_1y", "usd_month_1y_cud"), ("committed_3y", "usd_month_3y_cud")):
            if not row[column]:
                continue
            hourly = (decimal.Decimal(row[column]) / HOURS_PER_MONTH).quantize(
                EIGHTEEN_DIGITS, rounding=decimal.ROUND_HALF_EVEN)
            add_rate("gcp", region, name, option, "2026-07-30", hourly, "gcp-list-month/730")


def azure(folder):
    for row in read(folder, "azure_gpu_prices_allregions.csv"):
        add_rate("azure", row["region"], row["sku"], "on_demand", row["generated_at"][:10],
                 row["usd_per_hour"], "azure-list")
    for name, (model, count, gib) in AZURE_SIZES.items():
        vcpu = re.match(r"Standard_N[A-Z]+(\d+)", name).group(1)
        add_type("azure", name, model, count, vcpu, gib)


def oci(folder):
    items = json.loads((folder / "oci_prices_usd_opencost-test.json").read_text(), parse_float=decimal.Decimal)["items"]
    per_gpu = {}
    for item in items:
        for localization in item["currencyCodeLocalizations"]:
            for price in localization["prices"]:
                if localization["currencyCode"] == "USD" and price["model"] == "PAY_AS_YOU_GO":
                    per_gpu[item["partNumber"]] = decimal.Decimal(price["value"])
    for name, (part, model, count, ocpu, gib) in OCI_SHAPES.items():
        add_type("oci", name, model, count, 2 * ocpu, gib)
        add_rate("oci", "", name, "on_demand", MULTI_CLOUD_DATE, per_gpu[part] * count, "oci-list")


def multi_cloud(folder):
    """Takes only what the providers' own lists lack: spot prices, and the smaller clouds."""
    groups = collections.defaultdict(list)
    for row in read(folder, "multi_cloud-gpus_fullstack_2025-03-07.csv"):
        groups[row["Cloud"], unique_name(row)].append(row)
    for (cloud, name), rows in groups.items():
        row = rows[0]
        if cloud in ("GCP", "Oracle Cloud"):
            skipped[f"multi-cloud: {cloud} has a list of its own"] += len(rows)
        elif len({(r["On-demand"], r["Spot"]) for r in rows}) > 1:
            skipped["multi-cloud: several prices under one name"] += len(rows)
        elif cloud == "AWS":
            # The list names no region, but its on-demand prices are those of us-east-1, rounded.
            add_rate("aws", "us-east-1", name, "spot", MULTI_CLOUD_DATE, row["Spot"], "multi-cloud")
        elif cloud == "Azure":
            azure_spot(name, row)
        elif not row["On-demand"]:
            skipped["multi-cloud: no price"] += 1
        else:
            provider = re.sub(r"[^a-z0-9]", "", cloud.lower())
            add_type(provider, name, LISTED_MODELS.get(row["GPU Type"], row["GPU Type"]), row["GPUs"],
                     *(v if v.isdigit() else "" for v in (row["vCPUs"], row["RAM"])))
            add_rate(provider, "", name, "on_demand", MULTI_CLOUD_DATE, row["On-demand"], "multi-cloud")
            add_rate(provider, "", name, "spot", MULTI_CLOUD_DATE, row["Spot"], "multi-cloud")


def unique_name(row):
    if row["Name"]:
        return row["Name"].strip()
    gpu = re.sub(r"[^A-Za-z0-9]+", "-", row["GPU Type"]).strip("-")
    cloud = re.sub(r"[^a-z0-9]", "", row["Cloud"].lower())
    return f"{cloud}-{row['GPUs']}x-{gpu}-{row['vCPUs']}vcpu"


def azure_spot(name, row):
    """Takes the price for eastus if the on-demand price beside it is that of eastus; the list names no
    region."""
    name = "Standard_" + name.replace(" ", "_")
    listed = rates.get(("azure", name, "eastus", "on_demand"))
    cent = decimal.Decimal("0.01")
    if not listed or abs(listed[-1][1] - decimal.Decimal(row["On-demand"])) > cent:
        skipped["multi-cloud: Azure price of an unknown region"] += 1
        return
    add_rate("azure", "eastus", name, "spot", MULTI_CLOUD_DATE, row["Spot"], "multi-cloud")


def write(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONE)
        writer.writerow(header)
        writer.writerows(rows)


def main():
    folder = pathlib.Path(sys.argv[1])
    out = pathlib.Path(__file__).resolve().parent.parent / "data" / "prices"
    aws(folder)
    gcp(folder)
    azure(folder)
    oci(folder)
    multi_cloud(folder)
    lines = []
    for (provider, name, region, option), seen in sorted(rates.items()):
        last = None
        for date, price, source in sorted(seen):
            if price == last:
                skipped["price unchanged"] += 1
                continue
            last = price
            lines.append((provider, region, name, option, date, plain(price), "USD", source))
    write(out / "rates.csv", ("provider", "region", "instance_type", "option", "from", "per_hour",
                              "currency", "source"), lines)
    write(out / "instance_types.csv", ("provider", "name", "gpu_model", "gpu_count", "vcpu", "memory_gib"),
          [key + value for key, value in sorted(types.items())])
    prices = json.loads((folder / "opencost_default.json").read_text())
    write(out / "host_unit_rates.csv", ("part", "per_hour", "currency", "source"),
          [("(cpu)", prices["CPU"], "USD", "opencost-default"),
           ("(memory_gib)", prices["RAM"], "USD", "opencost-default")])
    print(f"{len(lines)} rates, {len(types)} instance types")
    for reason, count in sorted(skipped.items()):
        print(f"{count:6} rows skipped: {reason}")


main()
