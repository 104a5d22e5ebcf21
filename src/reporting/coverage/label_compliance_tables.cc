#include "reporting/coverage/label_compliance_tables.h"

#include <fmt/format.h>

#include "core/date.h"
#include "reporting/coverage/table_helpers.h"
#include "reporting/minor_unit.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

Row status_row(const KeyCompliance& key, std::string status, const LabelSums& sums,
               Money evaluated) {
  return {
      key.key,        std::move(status),
      sums.effective, evaluated.is_zero() ? Cell() : Cell(money_ratio(sums.effective, evaluated)),
      sums.gpu_time,  sums.workloads};
}

std::string money_text(Money amount) {
  return format_minor(amount) + " " + amount.currency().text();
}

void add_notes(Table& table, const CurrencyCompliance& one) {
  table.notes.push_back(fmt::format(
      "evaluated: what workloads pay for themselves, {}; each workload counts once, with its "
      "worst status",
      money_text(one.held)));
  if (!one.unowned.is_zero()) {
    table.notes.push_back(
        fmt::format("{} has no owner: idle, overhead, shared cost", money_text(one.unowned)));
  }
  if (!one.transferred.is_zero()) {
    table.notes.push_back(fmt::format("{} was moved to owners by spreading and corrections",
                                      money_text(one.transferred)));
  }
}

}  // namespace

std::vector<Table> label_tables(std::span<const CurrencyCompliance> all,
                                const std::string& period_label) {
  std::vector<Table> tables;
  for (const CurrencyCompliance& one : all) {
    Table table;
    table.title = fmt::format("{}: cost by required label", period_label);
    table.currency = one.currency;
    table.columns = {{"key", "label", ColumnKind::kId},
                     {"status", "status", ColumnKind::kId},
                     effective_column(one.currency),
                     {"share", "share", ColumnKind::kPercent},
                     {"gpu_hours", "GPU-hours", ColumnKind::kGpuHours},
                     {"workloads", "workloads", ColumnKind::kCount}};
    for (const KeyCompliance& key : one.keys) {
      const Money evaluated = key.evaluated().effective;
      for (const LabelStatus status : kLabelStatuses) {
        table.rows.push_back(
            status_row(key, std::string(to_text(status)), key.of(status), evaluated));
      }
      if (key.before == LabelSums{Money::zero(one.currency), {}, 0}) continue;
      Row before = status_row(key, "before in force", key.before, evaluated);
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
                                       const std::string& period_label) {
  std::vector<Table> tables;
  for (const CurrencyCompliance& one : all) {
    Table table;
    table.title = fmt::format("{}: required labels over time", period_label);
    table.currency = one.currency;
    table.columns = {{"key", "label", ColumnKind::kId},
                     {"from", "from", ColumnKind::kId},
                     {"share", "compliant", ColumnKind::kPercent},
                     {"stated", "stated", ColumnKind::kMoney},
                     {"derived", "derived", ColumnKind::kMoney},
                     {"not_allowed", "not allowed", ColumnKind::kMoney},
                     {"missing", "missing", ColumnKind::kMoney},
                     {"before", "before in force", ColumnKind::kMoney}};
    for (const KeyPeriodCompliance& period : one.periods) {
      const KeyCompliance& sums = period.sums;
      const Money evaluated = sums.evaluated().effective;
      Row row = {sums.key, to_text(period.first_day),
                 evaluated.is_zero() ? Cell() : Cell(money_ratio(sums.met(), evaluated))};
      for (const LabelStatus status : kLabelStatuses) row.push_back(sums.of(status).effective);
      row.push_back(sums.before.effective);
      table.rows.push_back(std::move(row));
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

std::vector<Table> label_offender_tables(std::span<const CurrencyCompliance> all,
                                         const std::string& period_label, std::uint64_t top) {
  std::vector<Table> tables;
  for (const CurrencyCompliance& one : all) {
    Table table;
    table.title = fmt::format("{}: cost without a required label, largest first", period_label);
    table.currency = one.currency;
    table.columns = {{"key", "label", ColumnKind::kId},
                     {"status", "status", ColumnKind::kId},
                     {"cluster", "cluster", ColumnKind::kText},
                     {"group", "group", ColumnKind::kText},
                     {"user", "user", ColumnKind::kText},
                     effective_column(one.currency),
                     {"gpu_hours", "GPU-hours", ColumnKind::kGpuHours},
                     {"workloads", "workloads", ColumnKind::kCount},
                     {"example", "example", ColumnKind::kText},
                     {"value", "value", ColumnKind::kText}};
    std::uint64_t shown = 0;
    std::uint64_t left_out = 0;
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
      table.notes.push_back(counted(left_out, "further row") + "; --top shows more of each label");
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace pennyweight
