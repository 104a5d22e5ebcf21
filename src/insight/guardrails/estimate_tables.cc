#include <fmt/format.h>

#include <utility>

#include "core/plain_text.h"
#include "insight/guardrails/estimate_report.h"

namespace pennyweight::guardrails {
namespace {

std::string device_text(const RequestedDevice& device, const std::string& model) {
  const std::string of_model = model.empty() ? "GPU" : model;
  switch (device.kind) {
    case RequestedDevice::Kind::kGpu:
    case RequestedDevice::Kind::kReplica:
      return fmt::format("{} x {}", device.count, of_model);
    case RequestedDevice::Kind::kMigSlice:
      return fmt::format("{} x {} of {}", device.count, device.mig_profile, of_model);
    case RequestedDevice::Kind::kVirtualGpu:
    case RequestedDevice::Kind::kFraction:
      return fmt::format("{} x part of {}", device.count, of_model);
  }
  return "";
}

std::string gpus_text(const GroupEstimate& estimate) {
  const std::string model = estimate.machine ? estimate.machine->gpu_model
                                             : printable_text(estimate.group.place.gpu_model, 80);
  std::string text;
  for (const RequestedDevice& device : estimate.group.gpus) {
    if (!text.empty()) text += " + ";
    text += device_text(device, model);
  }
  return text;
}

std::string machine_text(const PricedMachine& machine, std::uint64_t machines) {
  std::string text = fmt::format("{} x {} {}", machines, machine.provider, machine.instance_type);
  if (!machine.region.empty()) text += " " + machine.region;
  if (machine.option != PurchaseOption::kOnDemand) {
    text += fmt::format(" {}", to_text(machine.option));
  }
  return text;
}

Cell optional_cell(const std::optional<Money>& amount) { return amount ? Cell(*amount) : Cell(); }

Table price_table(const Estimate& estimate) {
  Table table;
  table.title = fmt::format("Estimate in {}", estimate.currency.text());
  table.currency = estimate.currency;
  table.columns = {{"workload", "workload", ColumnKind::kText},
                   {"group", "group", ColumnKind::kText},
                   {"replicas", "replicas", ColumnKind::kCount},
                   {"asks_for", "each asks for", ColumnKind::kText},
                   {"machines", "on", ColumnKind::kText},
                   {"cost_per_hour", "per hour", ColumnKind::kMoney},
                   {"gpu_cost_per_hour", "of it GPUs", ColumnKind::kMoney},
                   {"idle_per_hour", "idle per hour", ColumnKind::kMoney},
                   {"cost_per_run_max", "run at most", ColumnKind::kMoney},
                   {"cost_per_month", "per month", ColumnKind::kMoney},
                   {"cost_per_month_max", "month at most", ColumnKind::kMoney}};
  Money gpus = Money::zero(estimate.currency);
  for (const WorkloadEstimate& workload : estimate.workloads) {
    const std::string title = workload_title(workload.workload);
    for (const std::string& note : workload.notes) table.notes.push_back(title + ": " + note);
    for (const GroupEstimate& group : workload.groups) {
      if (!group.problem.empty()) continue;
      gpus += group.gpu;
      table.rows.push_back(
          {title, printable_text(group.group.name, 80), group.group.replicas, gpus_text(group),
           group.machine ? machine_text(*group.machine, group.machines)
                         : std::string("market prices of CPU and memory"),
           group.per_hour(), group.gpu, group.idle, optional_cell(group.per_run_max),
           optional_cell(group.per_month), optional_cell(group.per_month_max)});
    }
  }
  const EstimateTotals totals = estimate.totals();
  table.total = Row{std::string("total"),
                    Cell(),
                    Cell(),
                    Cell(),
                    Cell(),
                    totals.per_hour,
                    gpus,
                    totals.idle,
                    totals.per_run_max,
                    totals.per_month,
                    totals.per_month_max};
  table.notes.push_back(fmt::format("a month of a service has {} hours", kHoursPerMonth));
  if (totals.without_length > 0) {
    table.notes.push_back(fmt::format(
        "nothing limits the time of {} group{}; give --hours to price a run of that length",
        totals.without_length, totals.without_length == 1 ? "" : "s"));
  }
  return table;
}

Table unpriced_table(const Estimate& estimate) {
  Table table;
  table.title = "Not in the price";
  table.columns = {{"file", "file", ColumnKind::kText},
                   {"line", "line", ColumnKind::kCount},
                   {"object", "object", ColumnKind::kText},
                   {"reason", "why", ColumnKind::kId}};
  for (const Finding& finding : find_unpriced(estimate)) {
    table.rows.push_back({printable_text(finding.file, 400),
                          static_cast<std::uint64_t>(finding.line), finding.about,
                          finding.message});
  }
  return table;
}

Table alternatives_table(const Estimate& estimate) {
  Table table;
  table.title = fmt::format("Cheaper machines in {}", estimate.currency.text());
  table.currency = estimate.currency;
  table.columns = {{"workload", "workload", ColumnKind::kText},
                   {"group", "group", ColumnKind::kText},
                   {"machines", "on", ColumnKind::kText},
                   {"gpu", "GPU", ColumnKind::kText},
                   {"machines_per_hour", "machines per hour", ColumnKind::kMoney},
                   {"saving_per_hour", "saves per hour", ColumnKind::kMoney}};
  for (const WorkloadEstimate& workload : estimate.workloads) {
    for (const GroupEstimate& group : workload.groups) {
      for (const Alternative& other : group.alternatives) {
        table.rows.push_back({workload_title(workload.workload),
                              printable_text(group.group.name, 80),
                              machine_text(other.machine, other.machines), other.machine.gpu_model,
                              other.per_hour, other.saving_per_hour});
      }
    }
  }
  return table;
}

Cell month_cell(const std::optional<EstimateTotals>& totals) {
  return totals ? Cell(totals->per_month) : Cell();
}

Cell hour_cell(const std::optional<EstimateTotals>& totals) {
  return totals ? Cell(totals->per_hour) : Cell();
}

}  // namespace

std::vector<Table> estimate_tables(const Estimate& estimate) {
  std::vector<Table> tables = {price_table(estimate)};
  for (Table& table : std::vector<Table>{unpriced_table(estimate), alternatives_table(estimate)}) {
    if (!table.rows.empty()) tables.push_back(std::move(table));
  }
  return tables;
}

Table comparison_table(const EstimateComparison& comparison) {
  Table table;
  table.title = fmt::format("Change in {}", comparison.currency.text());
  table.currency = comparison.currency;
  table.columns = {{"workload", "workload", ColumnKind::kText},
                   {"change", "change", ColumnKind::kText},
                   {"per_hour_before", "per hour before", ColumnKind::kMoney},
                   {"per_hour_after", "after", ColumnKind::kMoney},
                   {"per_hour_difference", "difference", ColumnKind::kMoney},
                   {"per_month_before", "per month before", ColumnKind::kMoney},
                   {"per_month_after", "after", ColumnKind::kMoney},
                   {"per_month_difference", "difference", ColumnKind::kMoney}};
  const Money zero = Money::zero(comparison.currency);
  std::uint64_t same = 0;
  for (const WorkloadDifference& one : comparison.workloads) {
    if (one.change == WorkloadDifference::Change::kSame) {
      ++same;
      continue;
    }
    const Money hour =
        (one.after ? one.after->per_hour : zero) - (one.before ? one.before->per_hour : zero);
    const Money month =
        (one.after ? one.after->per_month : zero) - (one.before ? one.before->per_month : zero);
    table.rows.push_back({one.title, std::string(to_text(one.change)), hour_cell(one.before),
                          hour_cell(one.after), hour, month_cell(one.before), month_cell(one.after),
                          month});
  }
  const EstimateTotals& before = comparison.before;
  const EstimateTotals& after = comparison.after;
  table.total = Row{std::string("total"),
                    Cell(),
                    before.per_hour,
                    after.per_hour,
                    after.per_hour - before.per_hour,
                    before.per_month,
                    after.per_month,
                    after.per_month - before.per_month};
  table.notes.push_back(fmt::format("{} workload{} cost the same", same, same == 1 ? "" : "s"));
  if (before.not_priced + after.not_priced > 0) {
    table.notes.push_back(fmt::format(
        "groups that are not priced: {} before, {} after; the difference is without them",
        before.not_priced, after.not_priced));
  }
  return table;
}

}  // namespace pennyweight::guardrails
