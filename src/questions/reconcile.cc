#include "questions/reconcile.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "questions/selection.h"
#include "report/number_format.h"

namespace pennyweight {
namespace {

Result<void> check_asked(const std::string& month) {
  if (month.empty()) return {};
  return check_month(month);
}

Result<ReconciledMonth> check(Store& store, const std::string& month,
                              const ReconcileQuestion& question) {
  ReconciledMonth result{.month = month, .totals = {}, .lines = {}};
  auto totals = store.reconcile(month, !question.lines, [&](const LineCheck& line) {
    if (result.lines.size() < question.top) {
      result.lines.push_back(line);
    } else {
      ++result.hidden;
    }
    return true;
  });
  if (!totals) return std::unexpected(totals.error());
  result.totals = *std::move(totals);
  return result;
}

std::string about_transfers(const ReconcileTotals& totals) {
  return totals.transfers_off == 0
             ? fmt::format("{} transfers between owners and buckets, each adding up to zero",
                           format_count(totals.transfers, Thousands::kSeparated))
             : fmt::format("{} of {} transfers do not add up to zero",
                           format_count(totals.transfers_off, Thousands::kSeparated),
                           format_count(totals.transfers, Thousands::kSeparated));
}

}  // namespace

bool ReconciledMonth::exact() const {
  return std::ranges::all_of(totals, [](const ReconcileTotals& one) { return one.exact(); });
}

std::vector<Table> ReconciledMonth::tables() const {
  std::vector<Table> all = reconcile_tables(month, totals);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ReconcileTotals& one = totals[i];
    if (one.transfers > 0) all[i].notes.push_back(about_transfers(one));
    if (one.lines_gone > 0) {
      all[i].notes.push_back(fmt::format(
          "{} lines are still posted and were taken back by a delivery since; allocate again",
          format_count(one.lines_gone, Thousands::kSeparated)));
    }
  }
  return all;
}

bool ReconcileAnswer::exact() const {
  return std::ranges::all_of(months, [](const ReconciledMonth& month) { return month.exact(); });
}

std::uint64_t ReconcileAnswer::lines() const {
  std::uint64_t all = 0;
  for (const ReconciledMonth& month : months) {
    for (const ReconcileTotals& totals : month.totals) all += totals.lines;
  }
  return all;
}

Result<ReconcileAnswer> ask_reconcile(Store& store, const ReconcileQuestion& question) {
  const auto overview = store.overview();
  if (!overview) return std::unexpected(overview.error());
  if (const auto asked = check_asked(question.month); !asked) {
    return std::unexpected(asked.error());
  }
  const std::vector<std::string> months =
      question.month.empty() ? overview->months : std::vector{question.month};
  ReconcileAnswer answer;
  for (const std::string& month : months) {
    auto checked = check(store, month, question);
    if (!checked) return std::unexpected(checked.error());
    answer.months.push_back(*std::move(checked));
  }
  if (answer.lines() == 0) {
    return fail(ErrorCode::kNotFound,
                months.empty() ? "there are no bill lines yet; import a bill first"
                               : fmt::format("there are no bill lines of {}", question.month));
  }
  auto rejected = store.rejected_rows(question.rejected);
  if (!rejected) return std::unexpected(rejected.error());
  answer.rejected = *std::move(rejected);
  answer.rejected_all = overview->rejected;
  return answer;
}

Result<LedgersAnswer> ask_two_ledgers(Store& store, const std::string& month, ReconcileBy by,
                                      const TimeZone& zone) {
  if (const auto asked = check_asked(month); !asked) return std::unexpected(asked.error());
  TwoLedgers ledgers(by, zone);
  const auto totals = store.reconcile(month, false, [&](const LineCheck& line) {
    ledgers.add(line);
    return true;
  });
  if (!totals) return std::unexpected(totals.error());
  LedgersAnswer answer{.tables = ledgers.tables(month.empty() ? "all months" : month),
                       .exact = ledgers.exact()};
  if (answer.tables.empty()) {
    return fail(ErrorCode::kNotFound, "there are no such bill lines; import a bill first");
  }
  return answer;
}

}  // namespace pennyweight
