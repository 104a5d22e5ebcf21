#include "reporting/unit_cost_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "reporting/number_format.h"

namespace pennyweight {
namespace {

// Beyond 64 bits a count is a text; no count gets there in practice.
Cell count_cell(UInt128 count) {
  if (count <= std::numeric_limits<std::uint64_t>::max()) return static_cast<std::uint64_t>(count);
  return to_text(count);
}

Cell unit_cell(const std::optional<UnitCost>& cost, int digits) {
  if (!cost) return {};
  const auto rounded = cost->rounded(digits);
  return rounded ? Cell(*rounded) : Cell();
}

std::string row_note(const UnitCostRow& row) {
  std::string note(why_no_unit_cost(row));
  if (note.empty() && row.count_without_cost > 0) {
    note = fmt::format("and {} without cost", to_text(row.count_without_cost));
  }
  return note;
}

Row unit_row(const UnitCostReport& report, const UnitCostRow& row, std::uint64_t per, int digits) {
  const bool has_count = row.has_outcomes || row.count_without_cost > 0;
  const bool has_money = report.currency.has_value();
  const auto money = [&](Money amount, bool is_there) {
    return has_money && is_there ? Cell(amount) : Cell();
  };
  return {
      row.key,
      report.measure,
      has_count ? count_cell(row.count + row.count_without_cost) : Cell(),
      money(row.cost.used, row.has_cost),
      unit_cell(without_idle(row, per), digits),
      money(row.cost.idle, row.has_cost),
      unit_cell(with_idle(row, per), digits),
      money(row.cost.other, row.has_cost),
      money(row.without_outcomes.total(), row.has_cost || !row.without_outcomes.total().is_zero()),
      row_note(row)};
}

Money all_money(const UnitCostRow& row) { return row.cost.total() + row.without_outcomes.total(); }

// The most expensive first; rows without an owner are sorted with the others.
std::vector<const UnitCostRow*> rows_by_cost(const UnitCostReport& report) {
  std::vector<const UnitCostRow*> rows;
  for (const UnitCostRow& row : report.rows) rows.push_back(&row);
  std::ranges::stable_sort(rows, [](const UnitCostRow* a, const UnitCostRow* b) {
    if (a->cost.with_idle().ticks() != b->cost.with_idle().ticks()) {
      return a->cost.with_idle().ticks() > b->cost.with_idle().ticks();
    }
    return all_money(*a).ticks() > all_money(*b).ticks();
  });
  return rows;
}

// "request", "1,000,000 tokens".
std::string unit_name(std::string_view measure, std::uint64_t per) {
  if (per != 1) return format_count(per, Thousands::kSeparated) + " " + std::string(measure);
  if (measure.size() > 1 && measure.ends_with('s')) measure.remove_suffix(1);
  return std::string(measure);
}

std::vector<Column> unit_columns(const UnitTableOptions& options, std::uint64_t per) {
  const std::string each = per == 1 ? "each" : "per " + format_count(per, Thousands::kSeparated);
  return {{options.by, options.by, ColumnKind::kText},
          {"measure", "measure", ColumnKind::kText},
          {"count", "count", ColumnKind::kCount},
          {"used_cost", "used", ColumnKind::kMoney},
          {"unit_cost_without_idle", each, ColumnKind::kExactMoney},
          {"idle_cost", "idle", ColumnKind::kMoney},
          {"unit_cost_with_idle", "with idle", ColumnKind::kExactMoney},
          {"other_cost", "spread overhead", ColumnKind::kMoney},
          {"cost_without_outcomes", "no outcomes", ColumnKind::kMoney},
          {"note", "note", ColumnKind::kText}};
}

Cell part_cell(const AttemptSums& sums) {
  return sums.attempts == 0 && sums.effective.is_zero() ? Cell() : Cell(sums.effective);
}

Row job_row(const JobCostRow& job, std::string name) {
  const AttemptSums total = job.total();
  return {std::move(name),
          job.cluster,
          job.name,
          job.group,
          job.user,
          total.attempts,
          total.effective,
          part_cell(job.sums(AttemptEnd::kUseful)),
          part_cell(job.sums(AttemptEnd::kLost)),
          part_cell(job.sums(AttemptEnd::kRunning)),
          part_cell(job.sums(AttemptEnd::kUnknown)),
          total.gpu_time,
          job.sums(AttemptEnd::kLost).gpu_time};
}

}  // namespace

std::vector<Table> unit_cost_tables(std::span<const UnitCostReport> reports,
                                    const UnitTableOptions& options) {
  std::vector<Table> tables;
  for (const UnitCostReport& report : reports) {
    const std::uint64_t per = options.per.value_or(default_per(report.measure));
    Table table;
    table.title = fmt::format("{}: cost per {} by {}", options.period_label,
                              unit_name(report.measure, per), options.by);
    table.currency = report.currency;
    table.columns = unit_columns(options, per);
    const auto rows = rows_by_cost(report);
    const std::size_t shown = std::min<std::size_t>(rows.size(), options.top.value_or(rows.size()));
    for (std::size_t i = 0; i < shown; ++i) {
      table.rows.push_back(unit_row(report, *rows[i], per, options.digits));
    }
    if (shown < rows.size()) {
      table.notes.push_back(fmt::format("the total includes {}; --top shows more",
                                        counted(rows.size() - shown, "further row")));
    }
    table.total = unit_row(report, *report.total, per, options.digits);
    table.notes.emplace_back(
        "'with idle' adds what workloads held and did not use, and the idle cost that spreading "
        "moved "
        "to their owner; 'no outcomes' is cost without outcomes of this measure");
    tables.push_back(std::move(table));
  }
  return tables;
}

std::vector<Table> job_cost_tables(std::span<const JobCostReport> reports,
                                   const UnitTableOptions& options) {
  std::vector<Table> tables;
  for (const JobCostReport& report : reports) {
    Table table;
    table.title = fmt::format("{}: cost of jobs, useful and lost", options.period_label);
    table.currency = report.currency;
    table.columns = {{"job", "job", ColumnKind::kText},
                     {"cluster", "cluster", ColumnKind::kText},
                     {"name", "name", ColumnKind::kText},
                     {"group", "group", ColumnKind::kText},
                     {"user", "user", ColumnKind::kText},
                     {"attempts", "attempts", ColumnKind::kCount},
                     {"effective_cost", "cost", ColumnKind::kMoney},
                     {"useful_cost", "useful", ColumnKind::kMoney},
                     {"lost_cost", "lost", ColumnKind::kMoney},
                     {"running_cost", "running", ColumnKind::kMoney},
                     {"unknown_cost", "end unknown", ColumnKind::kMoney},
                     {"gpu_hours", "GPU-hours", ColumnKind::kGpuHours},
                     {"lost_gpu_hours", "lost GPU-hours", ColumnKind::kGpuHours}};
    const std::size_t shown =
        std::min<std::size_t>(report.rows.size(), options.top.value_or(report.rows.size()));
    for (std::size_t i = 0; i < shown; ++i) {
      table.rows.push_back(job_row(report.rows[i], report.rows[i].job));
    }
    if (shown < report.rows.size()) {
      table.notes.push_back(fmt::format("the total includes {}; --top shows more",
                                        counted(report.rows.size() - shown, "further job")));
    }
    table.total = job_row(report.total, "total");
    table.notes.emplace_back(
        "lost: attempts that failed, were cancelled, preempted or requeued, or ran out of time; "
        "work "
        "that a checkpoint saved is not known");
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace pennyweight
