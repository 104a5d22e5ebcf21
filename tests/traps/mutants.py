"""Proves that each trap's case fails when its handling is taken out.

mutants.py ROOT [--work FOLDER] [--jobs N] [--only WORD]

For each mutant of the table: one small change of a copy of the sources, a build of the modules and of
the runner, a run; exactly the cases that it names must fail. A mutant whose text is no longer in the
sources is an error, and so is a case that no mutant makes fail. On demand, since it builds as often
as there are mutants: some minutes.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

T = "src/telemetry/"
L = "src/telemetry/live/"
F = "src/core/gpu/"

# What is taken out; the file, its text, what stands there instead; the cases that notice.
MUTANTS = [
    ("the pod's and the pause container's rows", T + "container_series.cc",
     '!container.empty() && container != "POD" && ', "", "container_usage"),
    ("the other page of the kubelet", T + "container_series.cc",
     "return has_id == (source == HostUsageSource::kCadvisor);", "return has_id || source != HostUsageSource::kNone;",
     "container_usage container_usage_resource"),
    ("a new name of a metric", F + "dcgm_metric.cc",
     '    watt("DCGM_FI_DEV_BOARD_POWER_WATTS"),\n', "", "renamed_metrics"),
    ("GPU_UTIL_RATIO by its suffix", F + "dcgm_metric.cc",
     'percent("DCGM_FI_DEV_GPU_UTIL_RATIO"', 'ratio("DCGM_FI_DEV_GPU_UTIL_RATIO"', "gpu_util_ratio"),
    ("the old name of the UUID", T + "device_series.cc",
     '{"UUID", "uuid", "device_uuid", "deviceuuid"}', '{"UUID", "device_uuid", "deviceuuid"}',
     "renamed_labels nvidia_gpu_exporter two_exporters"),
    ("hostname in lower case", T + "label_view.cc", '"Hostname", "hostname", ', '"Hostname", ',
     "renamed_labels"),
    ("pod_name", T + "label_view.cc", '    {"pod_name", "pod_namespace", "container_name"},',
     "", "renamed_labels"),
    ("exported_pod", T + "label_view.cc",
     '    {"exported_pod", "exported_namespace", "exported_container"},\n', "",
     "exported_pod exporters_own_pod hami_containers"),
    ("the exporter's own pod", T + "label_view.cc",
     "return !word.empty() && pod.find(word) != std::string_view::npos;",
     "return word.empty() && pod.empty();", "exporters_own_pod"),
    ("containers of a pod are one", T + "device_series.cc",
     ".component = std::string(metric->component),",
     '.component = std::string(metric->component) + std::string(labels.value("container")),',
     "exported_pod exporters_own_pod hami_containers pod_copies renamed_labels"),
    ("pods are told apart", T + "classification.cc",
     "      .add(series.mig_profile)\n      .add(series.workload.text())\n      .add(std::int64_t{series.of_workload ? 1 : 0})\n",
     "      .add(series.mig_profile)\n      .add(std::int64_t{series.of_workload ? 1 : 0})\n",
     "hpc_job one_arbitrary_pod pod_copies unlabelled_twin"),
    ("int32 blanks", T + "classification.cc", "return within(value, 2147483632.0, 2147483635.0);",
     "return within(value, 1, 0);", "blank_sentinels"),
    ("fp64 blanks", T + "classification.cc", "return within(value, 140737488355328.0, 140737488355331.0);",
     "return within(value, 1, 0);", "blank_sentinels"),
    ("int64 blanks", T + "classification.cc", "return value == 9223372036854775808.0;",
     "return within(value, 1, 0);", "blank_sentinels"),
    ("counters pass through blanks", T + "classification.cc", "if (quantity == Quantity::kEnergy) {",
     "if (quantity == Quantity::kEnergy && value < 0) {", "blank_sentinels"),
    ("NaN is no value", T + "classification.cc", "return !std::isfinite(value) || is_int32_blank(value)",
     "return is_int32_blank(value)", "not_a_number"),
    ("shares beyond the whole are clamped", L + "sample_stream_values.cc", "if (!scale.is_share || value > 1.5 * scale.most)",
     "if (true)", "beyond_scale"),
    ("nonsense is dropped", L + "sample_stream_values.cc", "if (!scale.is_share || value > 1.5 * scale.most)",
     "if (value > 100 * scale.most)", "beyond_scale"),
    ("a counter's reset", L + "accumulator.cc", "is_reset ? value : value - last_value_",
     "is_reset ? 0 : value - last_value_", "ecc_counter energy_reset"),
    ("energy is the card's", T + "device_metric.cc",
     "    case kSmCyclesActive:\n      return false;\n    case kPower:\n    case kEnergy:\n",
     "    case kSmCyclesActive:\n    case kEnergy:\n      return false;\n    case kPower:\n",
     "energy_per_mig_instance"),
    ("power is the card's", T + "device_metric.cc",
     "    case kSmCyclesActive:\n      return false;\n    case kPower:\n",
     "    case kSmCyclesActive:\n    case kPower:\n      return false;\n",
     "energy_per_mig_instance hpc_job power_per_pod"),
    ("compute instances share memory", T + "device_series.cc",
     "series.mig_profile = profile.instance;",
     'series.mig_profile = labels.value("GPU_I_PROFILE");', "shared_instance_memory"),
    ("compute instances are parts", T + "device_series.cc",
     "if (is_memory(series.quantity) || profile.taken == profile.slices) return;",
     "if (profile.taken != 0) return;", "shared_instance_memory"),
    ("MIG instances are devices", T + "device_series.cc",
     'series.mig_instance = labels.exporter_value("GPU_I_ID");', "",
     "beyond_scale mig_relative shared_instance_memory"),
    ("no GPU_UTIL under MIG", T + "device_series.cc",
     'if (series.quantity == Quantity::kGpuUtil && !labels.exporter_value("GPU_I_ID").empty())\n    return Ignored{};',
     "", "mig_relative"),
    ("an XID stays there", L + "accumulator.cc", "value != 0 && value != last_value_",
     "value != 0", "sticky_xid"),
    ("XIDs leave the window", L + "accumulator.cc",
     "value > last_value_ ? value - last_value_ : 0", "value", "xid_window"),
    ("ECC errors are a counter", L + "quantity_rules.cc", "    case Quantity::kEccErrors:\n", "", "ecc_counter"),
    ("a stale marker ends a series", L + "sample_stream.cc",
     "    end_series(member, key, sample.at_ms);\n", "", "one_arbitrary_pod stale_marker"),
    ("values hold 2.5 intervals", L + "accumulator.cc", "return interval_ms * 5 / 2;",
     "return interval_ms * 500;", "gap_unobserved not_a_number"),
    ("means are by time", L + "accumulator.cc",
     "piece.sum += UInt128{value} * static_cast<std::uint64_t>(end - from);",
     "piece.sum = UInt128{value} * static_cast<std::uint64_t>(end - piece.from);",
     "last_value_and_mean throttle_reasons"),
    ("one source at a time", L + "sample_stream.cc", "if (member.source != known.source && ",
     "if (member.source > 60'000 && ", "ecc_counter ha_replicas two_exporters"),
    ("replicas are sources", T + "label_view.cc",
     'if (const auto replica = value(label); !replica.empty()) text.append(" of ").append(replica);',
     "", "ha_replicas"),
    ("what is not newer is a duplicate", L + "accumulator.cc",
     "if (at <= last_at_) return SampleResult::kDuplicate;",
     "if (at == last_at_ || at <= last_at_ - 60'000) return SampleResult::kDuplicate;", "out_of_order"),
    ("cycles say the exact mean", L + "usage_rows.cc", "if (cycles && active_cycles && *cycles > 0) {",
     "if (cycles && active_cycles && *cycles > 1'000'000'000) {", "sm_cycles"),
    ("both directions add up", T + "device_metric.cc", 'return {kPcie, "rx"};',
     'return {kPcie, "tx"};', "pcie_gauge"),
    ("PCIe is a rate already", L + "quantity_rules.cc", "  return Aggregation::kMean;",
     "  return quantity == Quantity::kPcie ? Aggregation::kCounter : Aggregation::kMean;", "pcie_gauge"),
    ("idle clocks are no harm", L + "sample_stream_values.cc", "constexpr std::uint64_t kHarmlessReasons = ",
     "constexpr std::uint64_t kHarmlessReasons = 0 & ", "throttle_reasons"),
    ("HAMi's containers add up", T + "device_series.cc",
     'series.component = fmt::format("{}/{}", labels.first_exporter_value({"ctrname", "container"}),',
     'series.component = fmt::format("{:.0}{:.0}", labels.first_exporter_value({"ctrname", "container"}),',
     "hami_containers"),
    ("hertz are no megahertz", T + "device_metric.cc", "kSmClock, 1e-6, 1e11", "kSmClock, 1, 1e11",
     "nvidia_gpu_exporter"),
    ("GPU- is missing", T + "device_series.cc",
     'metric.family == "nvidia-smi" && !text.starts_with("GPU-")',
     'metric.family == "nvidia" && !text.starts_with("GPU-")', "nvidia_gpu_exporter two_exporters"),
    ("what stands behind a UUID", T + "device_series.cc", "text = text.substr(0, text.find('['));",
     "", "device_ids"),
    ("paths are no UUIDs", T + "device_series.cc",
     'if (!id || id->device.starts_with("nvidia")) return std::unexpected(kNoUuid);',
     "if (!id) return std::unexpected(kNoUuid);", "device_ids"),
    ("HPC jobs are workloads", T + "label_view.cc", '"hpc_job", ', "", "hpc_job"),
    ("'_' for ':'", T + "outcome_series.cc", "a == b || (a == '_' && b == ':')", "a == b",
     "outcome_without_workload serving_counters"),
    ("what was broken off is no outcome", T + "outcome_series.cc", 'reason == "abort" || ', "",
     "serving_counters"),
    ("engines and reasons add up", T + "outcome_series.cc",
     ".component = outcome_component(labels, kept),", ".component = {},", "serving_counters"),
    ("an outcome is somebody's", T + "outcome_series.cc",
     "if (series.workload.empty()) return", "if (series.measure.empty()) return",
     "outcome_without_workload"),
    ("state series have their names back", T + "state_series.cc",
     "name.erase(0, kExported.size());", "", "kube_state_metrics"),
]


def run(command, **options):
    return subprocess.run(command, check=False, capture_output=True, text=True, **options)


class Copy:
    def __init__(self, root, work, jobs):
        self.root, self.work, self.jobs = root, work, jobs
        self.build = work / "build"
        shutil.copytree(root, work, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("build", "node_modules", ".git"))
        if (root / "node_modules").exists():  # DuckDB
            (work / "node_modules").symlink_to(root / "node_modules")
        for path in (work / "cmake").glob("*.cmake"):  # a mutant may leave something unused
            path.write_text(path.read_text().replace("-Werror", ""))
        made = run(["cmake", "-S", work, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                    "-DCMAKE_CXX_FLAGS=-O0 -g0"])
        if made.returncode != 0:
            sys.exit(made.stderr[-3000:])

    def failing(self):
        """The cases that fail, or what the compiler says."""
        built = run(["ninja", "-C", str(self.build), f"-j{self.jobs}", "run_traps"])
        if built.returncode != 0:
            return None, built.stdout[-2000:]
        runner = next(self.build.rglob("run_traps"))
        try:
            said = run([str(runner)], timeout=120)
        except subprocess.TimeoutExpired:
            return None, "no end"
        if "PASSED" not in said.stdout and "FAILED" not in said.stdout:
            return None, (said.stdout + said.stderr)[-500:]
        return set(re.findall(r"^\[  FAILED  \] \S+/(\w+), where", said.stdout, re.M)), ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    root = options.root.resolve()
    if options.work:
        pathlib.Path(options.work).mkdir(parents=True, exist_ok=True)
    work = pathlib.Path(tempfile.mkdtemp(prefix="traps-", dir=options.work))
    copy = Copy(root, work, options.jobs)
    failing, why = copy.failing()
    if failing is None or failing:
        sys.exit(f"without a mutant: {sorted(failing or [])} {why}")
    problems, hit = 0, set()
    for name, file, old, new, cases in MUTANTS:
        if options.only not in name:
            continue
        path, expected = work / file, set(cases.split())
        text = path.read_text(encoding="utf-8")
        if text.count(old) != 1:
            print(f"BAD   {name}: its text stands {text.count(old)} times in {file}")
            problems += 1
            continue
        path.write_text(text.replace(old, new), encoding="utf-8")
        failing, why = copy.failing()
        path.write_text(text, encoding="utf-8")
        if failing == expected:
            print(f"found {name}: {' '.join(sorted(expected))}", flush=True)
            hit |= expected
        else:
            problems += 1
            print(f"BAD   {name}: expected {sorted(expected)}, failed {failing and sorted(failing)} {why}",
                  flush=True)
    missed = {path.stem for path in (root / "tests/traps").glob("*.case")} - hit
    if not options.only and missed:
        problems += 1
        print(f"BAD   no mutant makes these fail: {' '.join(sorted(missed))}")
    print(f"{len(MUTANTS)} mutants, {len(hit)} cases made to fail, {problems} problems")
    shutil.rmtree(work)
    return problems > 0


if __name__ == "__main__":
    sys.exit(main())
