#include "reporting/queries/reconcile.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/try.h"
#include "reporting/number_format.h"
#include "reporting/queries/selection.h"

namespace pennyweight {
namespace {

Result<void> check_optional_month(const std::string& month) {
  if (month.empty()) return {};
  return check_month(month);
}

Result<ReconciledMonth> reconcile_month(Store& store, const std::string& month,
                                        const ReconcileQuery& params) {
  ReconciledMonth result{.month = month, .totals = {}, .lines = {}};
  auto totals = TRY(store.reconcile(month, !params.lines, [&](const LineCheck& line) {
    if (result.lines.size() < params.top) {
      result.lines.push_back(line);
    } else {
      ++result.hidden;
    }
    return true;
  }));
  result.totals = std::move(totals);
  return result;
}

std::string transfer_note(const ReconcileTotals& totals) {
  return totals.transfers_off == 0
             ? counted(totals.transfers, "transfer") +
                   " between owners and buckets, each adding up to zero"
             : fmt::format("{} of {} not adding up to zero",
                           format_count(totals.transfers_off, Thousands::kSeparated),
                           counted(totals.transfers, "transfer"));
}

}  // namespace

bool ReconciledMonth::exact() const {
  return std::ranges::all_of(totals, [](const ReconcileTotals& one) { return one.exact(); });
}

std::vector<Table> ReconciledMonth::tables() const {
  std::vector<Table> all = reconcile_tables(month, totals);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ReconcileTotals& one = totals[i];
    if (one.transfers > 0) all[i].notes.push_back(transfer_note(one));
    if (one.lines_gone > 0) {
      all[i].notes.push_back(
          fmt::format("{} retired by a later delivery but still posted; run 'pennyweight allocate'",
                      counted(one.lines_gone, "bill line")));
    }
  }
  return all;
}

bool ReconcileResult::exact() const {
  return std::ranges::all_of(months, [](const ReconciledMonth& month) { return month.exact(); });
}

std::uint64_t ReconcileResult::lines() const {
  std::uint64_t all = 0;
  for (const ReconciledMonth& month : months) {
    for (const ReconcileTotals& totals : month.totals) all += totals.lines;
  }
  return all;
}

Result<ReconcileResult> query_reconciliation(Store& store, const ReconcileQuery& params) {
  const auto overview = TRY(store.overview());
  TRY(check_optional_month(params.month));
  const std::vector<std::string> months =
      params.month.empty() ? overview.months : std::vector{params.month};
  ReconcileResult answer;
  for (const std::string& month : months) {
    auto checked = TRY(reconcile_month(store, month, params));
    answer.months.push_back(std::move(checked));
  }
  if (answer.lines() == 0) {
    return fail(ErrorCode::kNotFound,
                months.empty() ? "there are no bill lines yet; import a bill first"
                               : fmt::format("there are no bill lines of {}", params.month));
  }
  auto rejected = TRY(store.rejected_rows(params.rejected));
  answer.rejected = std::move(rejected);
  answer.rejected_all = overview.rejected;
  return answer;
}

Result<GroupedReconciliationResult> query_grouped_reconciliation(Store& store,
                                                                 const std::string& month,
                                                                 ReconcileBy by,
                                                                 const TimeZone& zone) {
  TRY(check_optional_month(month));
  GroupedReconciliation groups(by, zone);
  std::ignore = TRY(store.reconcile(month, false, [&](const LineCheck& line) {
    groups.add(line);
    return true;
  }));
  GroupedReconciliationResult answer{.tables = groups.tables(month_label(month)),
                                     .exact = groups.exact()};
  if (answer.tables.empty()) {
    return fail(ErrorCode::kNotFound, "there are no such bill lines; import a bill first");
  }
  return answer;
}

}  // namespace pennyweight
