#include "labels/compliance_tables.h"

#include <fmt/format.h>

#include "core/date.h"
#include "report/number_format.h"

namespace pennyweight {
namespace {

Ratio part_of(Money part, Money whole) { return {part.ticks(), whole.ticks()}; }

Column effective_column(Currency currency) {
  return {"effective_cost", "effective " + currency.text(), ColumnKind::kMoney};
}

Row status_row(const KeyCompliance& key, std::string status, const LabelSums& sums, Money judged) {
  return {key.key,        std::move(status),
          sums.effective, judged.is_zero() ? Cell() : Cell(part_of(sums.effective, judged)),
          sums.gpu_time,  sums.workloads};
}

std::string money_text(Money amount) {
  return format_rounded(amount.amount(), 2, Thousands::kSeparated) + " " + amount.currency().text();
}

void add_notes(Table& table, const CurrencyCompliance& one) {
  table.notes.push_back(
      fmt::format("judged is what holders pay for themselves, {}; a workload counts once, by its "
                  "worst status",
                  money_text(one.held)));
  if (!one.nobodys.is_zero()) {
    table.notes.push_back(
        fmt::format("{} is of nobody: idle, overhead, shared cost", money_text(one.nobodys)));
  }
  if (!one.moved.is_zero()) {
    table.notes.push_back(
        fmt::format("{} was moved to owners by rules and corrections", money_text(one.moved)));
  }
}

}  // namespace

std::vector<Table> label_tables(std::span<const CurrencyCompliance> all, const std::string& what) {
  std::vector<Table> tables;
  for (const CurrencyCompliance& one : all) {
    Table table;
    table.title = fmt::format("{}: required labels, and whose cost has them", what);
    table.currency = one.currency;
    table.columns = {{"key", "label", ColumnKind::kId},
                     {"status", "is", ColumnKind::kId},
                     effective_column(one.currency),
                     {"share", "of judged", ColumnKind::kPercent},
                     {"gpu_hours", "GPU-hours", ColumnKind::kGpuHours},
                     {"workloads", "workloads", ColumnKind::kCount}};
    for (const KeyCompliance& key : one.keys) {
      const Money judged = key.judged().effective;
      for (const LabelStatus status : kLabelStatuses) {
        table.rows.push_back(status_row(key, std::string(to_text(status)), key.of(status), judged));
      }
      if (key.before == LabelSums{Money::zero(one.currency), {}, 0}) continue;
      Row before = status_row(key, "before in force", key.before, judged);
      before[3] = Cell();
      before[5] = Cell();
      table.rows.push_back(std::move(before));
    }
    add_notes(table, one);
    tables.push_back(std::move(table));
  }
  return tables;
}

std::vector<Table> label_period_tables(std::span<const CurrencyCompliance> all,
                                       const std::string& what) {
  std::vector<Table> tables;
  for (const CurrencyCompliance& one : all) {
    Table table;
    table.title = fmt::format("{}: required labels over time", what);
    table.currency = one.currency;
    table.columns = {{"key", "label", ColumnKind::kId},
                     {"from", "from", ColumnKind::kId},
                     {"share", "has it", ColumnKind::kPercent},
                     {"stated", "stated", ColumnKind::kMoney},
                     {"derived", "derived", ColumnKind::kMoney},
                     {"not_allowed", "not allowed", ColumnKind::kMoney},
                     {"missing", "missing", ColumnKind::kMoney},
                     {"before", "before in force", ColumnKind::kMoney}};
    for (const KeyPeriod& period : one.periods) {
      const KeyCompliance& sums = period.sums;
      const Money judged = sums.judged().effective;
      Row row = {sums.key, to_text(period.first_day),
                 judged.is_zero() ? Cell() : Cell(part_of(sums.met(), judged))};
      for (const LabelStatus status : kLabelStatuses) row.push_back(sums.of(status).effective);
      row.push_back(sums.before.effective);
      table.rows.push_back(std::move(row));
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

std::vector<Table> label_offender_tables(std::span<const CurrencyCompliance> all,
                                         const std::string& what, std::uint64_t top) {
  std::vector<Table> tables;
  for (const CurrencyCompliance& one : all) {
    Table table;
    table.title = fmt::format("{}: whose cost lacks a required label, the most first", what);
    table.currency = one.currency;
    table.columns = {{"key", "label", ColumnKind::kId},
                     {"status", "is", ColumnKind::kId},
                     {"cluster", "cluster", ColumnKind::kText},
                     {"group", "of", ColumnKind::kText},
                     {"user", "user", ColumnKind::kText},
                     effective_column(one.currency),
                     {"gpu_hours", "GPU-hours", ColumnKind::kGpuHours},
                     {"workloads", "workloads", ColumnKind::kCount},
                     {"example", "first of them", ColumnKind::kText},
                     {"value", "its value", ColumnKind::kText}};
    std::uint64_t shown = 0, left_out = 0;
    const std::string* key = nullptr;
    for (const LabelOffender& offender : one.offenders) {
      if (key == nullptr || *key != offender.key) shown = 0;
      key = &offender.key;
      if (shown++ >= top) {
        ++left_out;
        continue;
      }
      table.rows.push_back({offender.key, std::string(to_text(offender.status)), offender.cluster,
                            offender.group, offender.user, offender.sums.effective,
                            offender.sums.gpu_time, offender.sums.workloads, offender.example,
                            offender.value});
    }
    if (left_out > 0) {
      table.notes.push_back(fmt::format("{} more; --top shows more of each label", left_out));
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace pennyweight
