#include "report/unit_cost_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "report/number_format.h"

namespace pennyweight {
namespace {

// Beyond 64 bits a count is a text; nobody counts so far.
Cell count_cell(UInt128 count) {
  if (count <= std::numeric_limits<std::uint64_t>::max()) return static_cast<std::uint64_t>(count);
  return to_text(count);
}

Cell unit_cell(const std::optional<UnitCost>& cost, int digits) {
  if (!cost) return {};
  const auto rounded = cost->rounded(digits);
  return rounded ? Cell(*rounded) : Cell();
}

std::string note_of(const UnitCostRow& row) {
  std::string note(why_no_unit_cost(row));
  if (note.empty() && row.count_without_cost > 0) {
    note = fmt::format("and {} without cost", to_text(row.count_without_cost));
  }
  return note;
}

Row unit_row(const UnitCostReport& report, const UnitCostRow& row, std::uint64_t per, int digits) {
  const bool is_told = row.has_outcomes || row.count_without_cost > 0;
  const bool has_money = report.currency.has_value();
  const auto money = [&](Money amount, bool is_there) {
    return has_money && is_there ? Cell(amount) : Cell();
  };
  return {row.key,
          report.measure,
          is_told ? count_cell(row.count + row.count_without_cost) : Cell(),
          money(row.cost.used, row.has_cost),
          unit_cell(without_idle(row, per), digits),
          money(row.cost.idle, row.has_cost),
          unit_cell(with_idle(row, per), digits),
          money(row.cost.other, row.has_cost),
          money(row.beside.total(), row.has_cost || !row.beside.total().is_zero()),
          note_of(row)};
}

Money all_money(const UnitCostRow& row) { return row.cost.total() + row.beside.total(); }

// The most expensive first, then by count; what nobody has a share in comes with the rest.
std::vector<const UnitCostRow*> in_order(const UnitCostReport& report) {
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

std::vector<Column> unit_columns(const UnitTableOptions& options, std::uint64_t per) {
  const std::string each = per == 1 ? "each" : "per " + format_count(per, Thousands::kSeparated);
  return {{options.by, options.by, ColumnKind::kText},
          {"measure", "measure", ColumnKind::kText},
          {"count", "count", ColumnKind::kCount},
          {"used_cost", "used", ColumnKind::kMoney},
          {"unit_cost_without_idle", each, ColumnKind::kExactMoney},
          {"idle_cost", "idle", ColumnKind::kMoney},
          {"unit_cost_with_idle", "with idle", ColumnKind::kExactMoney},
          {"other_cost", "moved overhead", ColumnKind::kMoney},
          {"cost_without_outcomes", "not of it", ColumnKind::kMoney},
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
          part_cell(job.of(AttemptEnd::kUseful)),
          part_cell(job.of(AttemptEnd::kLost)),
          part_cell(job.of(AttemptEnd::kRunning)),
          part_cell(job.of(AttemptEnd::kUnknown)),
          total.gpu_time,
          job.of(AttemptEnd::kLost).gpu_time};
}

}  // namespace

std::vector<Table> unit_cost_tables(std::span<const UnitCostReport> reports,
                                    const UnitTableOptions& options) {
  std::vector<Table> tables;
  for (const UnitCostReport& report : reports) {
    const std::uint64_t per = options.per.value_or(usual_per(report.measure));
    Table table;
    table.title =
        fmt::format("{}: cost {} {} by {}", options.what,
                    per == 1 ? "of one of" : "per " + format_count(per, Thousands::kSeparated),
                    report.measure, options.by);
    table.currency = report.currency;
    table.columns = unit_columns(options, per);
    const auto rows = in_order(report);
    const std::size_t shown = std::min<std::size_t>(rows.size(), options.top.value_or(rows.size()));
    for (std::size_t i = 0; i < shown; ++i) {
      table.rows.push_back(unit_row(report, *rows[i], per, options.digits));
    }
    if (shown < rows.size()) {
      table.notes.push_back(
          fmt::format("{} more, in the total; --top shows more", rows.size() - shown));
    }
    table.total = unit_row(report, *report.total, per, options.digits);
    table.notes.emplace_back(
        "'with idle' has what was held and not used, and the idle that rules moved to the owner; "
        "'not of it' is cost without outcomes of this measure");
    tables.push_back(std::move(table));
  }
  return tables;
}

std::vector<Table> job_cost_tables(std::span<const JobCostReport> reports,
                                   const UnitTableOptions& options) {
  std::vector<Table> tables;
  for (const JobCostReport& report : reports) {
    Table table;
    table.title = fmt::format("{}: what jobs cost, useful and lost", options.what);
    table.currency = report.currency;
    table.columns = {{"job", "job", ColumnKind::kText},
                     {"cluster", "cluster", ColumnKind::kText},
                     {"name", "name", ColumnKind::kText},
                     {"group", "of", ColumnKind::kText},
                     {"user", "user", ColumnKind::kText},
                     {"attempts", "attempts", ColumnKind::kCount},
                     {"effective_cost", "cost", ColumnKind::kMoney},
                     {"useful_cost", "useful", ColumnKind::kMoney},
                     {"lost_cost", "lost", ColumnKind::kMoney},
                     {"running_cost", "still runs", ColumnKind::kMoney},
                     {"unknown_cost", "end unknown", ColumnKind::kMoney},
                     {"gpu_hours", "GPU-hours", ColumnKind::kGpuHours},
                     {"lost_gpu_hours", "lost GPU-hours", ColumnKind::kGpuHours}};
    const std::size_t shown =
        std::min<std::size_t>(report.rows.size(), options.top.value_or(report.rows.size()));
    for (std::size_t i = 0; i < shown; ++i) {
      table.rows.push_back(job_row(report.rows[i], report.rows[i].job));
    }
    if (shown < report.rows.size()) {
      table.notes.push_back(
          fmt::format("{} more jobs, in the total; --top shows more", report.rows.size() - shown));
    }
    table.total = job_row(report.total, "total");
    table.notes.emplace_back(
        "lost is what failed, was cancelled, preempted or requeued, or ran out of time; what a "
        "checkpoint saved of it is not known");
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace pennyweight
