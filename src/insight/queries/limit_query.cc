#include "insight/queries/limit_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "core/billing_period.h"
#include "core/check.h"
#include "core/date.h"
#include "core/int128.h"
#include "core/try.h"
#include "insight/budgets/budget.h"
#include "insight/queries/budget_query.h"

namespace pennyweight {
namespace {

using guardrails::LimitUse;
using guardrails::UsageLimit;

constexpr Date kLimitsBegin = std::chrono::sys_days(std::chrono::year(1970) / 1 / 1);

// A value as a filter has it, in which a backslash escapes a comma.
std::string filter_value(const std::string& value) {
  std::string text;
  for (const char c : value) {
    if (c == ',' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

Budget budget_of(const UsageLimit& limit, Money amount) {
  const bool counts_hours = amount.currency() == kGpuHourUnit;
  return {.name = fmt::format("{}{}", limit.name, counts_hours ? "#hours" : ""),
          .filters = {limit.dimension + "=" + filter_value(limit.selected())},
          .cost = counts_hours ? "gpu_hours" : "effective",
          .period = BudgetPeriod::kMonth,
          .amounts = {{.from = kLimitsBegin, .amount = amount}}};
}

// Hours are no money; of hours that are used up nothing is left.
Cell amount_cell(Money amount) {
  if (amount.currency() != kGpuHourUnit) return amount;
  return Ratio{std::max(amount.ticks(), Int128{0}), Int128{Money::kTicksPerUnit}};
}

}  // namespace

Result<std::vector<LimitUse>> query_limits(std::span<const UsageLimit> limits, Instant now,
                                           const Policy& policy, const SummarySource& summarise) {
  const auto today = parse_date(local_date(now, policy.time_zone));
  CHECK(today.has_value(), "local_date() writes a date");
  std::vector<Budget> budgets;
  std::vector<std::pair<std::size_t, bool>> places;  // of the limit; whether it counts hours
  std::vector<LimitUse> uses;
  for (const UsageLimit& limit : limits) {
    for (const auto& amount : {limit.per_month, limit.gpu_hours}) {
      if (!amount) continue;
      budgets.push_back(budget_of(limit, *amount));
      places.emplace_back(uses.size(), amount->currency() == kGpuHourUnit);
    }
    uses.push_back({.limit = limit});
  }
  if (budgets.empty()) return uses;
  const auto statuses = TRY(
      query_budgets({.budgets = budgets, .today = *today, .forecasts = false}, policy, summarise));
  CHECK(statuses.size() == budgets.size(), "each budget has a status");
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    LimitUse& use = uses[places[i].first];
    if (!statuses[i].problem.empty()) {
      use.problem = statuses[i].problem;
    } else if (places[i].second) {
      use.gpu_hours = statuses[i].actual;
    } else {
      use.spent = statuses[i].actual;
    }
  }
  return uses;
}

std::uint64_t month_left_ms(Instant now, const Policy& policy) {
  const Instant end = BillingPeriod::containing(now, policy.time_zone).next().to_interval().begin();
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - now).count();
  return left > 0 ? static_cast<std::uint64_t>(left) : 0;
}

std::vector<Table> limit_tables(std::span<const LimitUse> uses) {
  Table money;
  money.title = "Limits of money, this month";
  Table hours;
  hours.title = "Limits of GPU-hours, this month";
  Table gpus;
  gpus.title = "GPUs at once";
  for (const auto& [table, kind] :
       {std::pair{&money, ColumnKind::kMoney}, std::pair{&hours, ColumnKind::kGpuHours}}) {
    table->columns = {{"limit", "limit", ColumnKind::kText},
                      {"scope", "scope", ColumnKind::kText},
                      {"enforcement", "enforcement", ColumnKind::kText},
                      {"used", "used", kind},
                      {"amount", "limit", kind},
                      {"left", "left", kind},
                      {"state", "state", ColumnKind::kText}};
  }
  gpus.columns = {{"limit", "limit", ColumnKind::kText},
                  {"gpu_model", "GPU", ColumnKind::kText},
                  {"count", "at once", ColumnKind::kCount},
                  {"borrowed_max", "may borrow", ColumnKind::kCount},
                  {"cohort", "cohort", ColumnKind::kText}};
  for (const LimitUse& use : uses) {
    const UsageLimit& limit = use.limit;
    const std::string scope = limit.dimension + "=" + limit.selected();
    const auto add = [&](Table& table, Money amount, const std::optional<Money>& used) {
      // Each row has the state of its own part.
      LimitUse part = use;
      const bool counts_hours = amount.currency() == kGpuHourUnit;
      if (counts_hours) {
        part.limit.per_month.reset();
      } else {
        part.limit.gpu_hours.reset();
      }
      Row row = {limit.name,
                 scope,
                 std::string(limit.is_hard ? "hard" : "soft"),
                 Cell(),
                 amount_cell(amount),
                 Cell(),
                 std::string(part.state())};
      if (used) {
        row[3] = amount_cell(*used);
        row[5] = amount_cell(amount - *used);
      }
      if (!counts_hours) table.currency = amount.currency();
      table.rows.push_back(std::move(row));
      if (!used && !use.problem.empty()) table.notes.push_back(limit.name + ": " + use.problem);
    };
    if (limit.per_month) add(money, *limit.per_month, use.spent);
    if (limit.gpu_hours) add(hours, *limit.gpu_hours, use.gpu_hours);
    for (const guardrails::GpuQuota& quota : limit.gpus) {
      gpus.rows.push_back({limit.name, quota.model, quota.count, quota.borrowed_max, limit.cohort});
    }
  }
  std::vector<Table> tables;
  for (Table* table : {&money, &hours, &gpus}) {
    if (!table->rows.empty()) tables.push_back(std::move(*table));
  }
  return tables;
}

}  // namespace pennyweight
