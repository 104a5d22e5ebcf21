#include "ledger/store/clickhouse/import_resolver.h"

#include "core/check.h"
#include "core/limits.h"

namespace pennyweight {
std::string is_one_of(const char* column, std::span<const Hash128> hashes) {
  std::string text;
  for (const Hash128& hash : hashes) {
    text += (text.empty() ? "" : ", ") + clickhouse::sql_literal(hash);
  }
  return fmt::format("{} IN ({})", column, text);
}

std::string narrowed(std::string from, const std::string& condition) {
  const std::size_t where = from.find(" WHERE ");
  CHECK(where != std::string::npos, "the statement selects one session");
  return from.insert(where, " PREWHERE " + condition);
}

std::unexpected<Error> rows_not_returned(const char* table) {
  return fail(ErrorCode::kStore, fmt::format("the table {} does not give back the rows that were "
                                             "sent to it, so nothing was committed; try again",
                                             table));
}

ImportResolver::ImportResolver(ClickhouseDatabase& database, const Snapshot& ledger,
                               const StagedDelivery& delivery,
                               const std::function<Result<void>()>& between,
                               std::set<std::string> closed)
    : database_(database),
      ledger_(ledger),
      delivery_(delivery),
      between_(between),
      conflicts_max_(std::max<std::uint64_t>(
          kConflictRowsShown,
          limits::kRejectedRowsKeptMax -
              std::min<std::uint64_t>(limits::kRejectedRowsKeptMax, delivery.rejected_rows_kept))),
      closed_(std::move(closed)) {}

const std::string& ImportResolver::booked_month_of(const std::string& month) {
  const auto [found, is_new] = booked_months_.try_emplace(month);
  if (is_new) {
    found->second = open_month_from(month, [&](const std::string& m) { return is_closed(m); });
  }
  return found->second;
}

std::string ImportResolver::of_delivered_months() const {
  std::string months;
  for (const auto& [month, lines] : delivery_.months) {
    months += (months.empty() ? "" : ", ") + clickhouse::sql_literal(month);
  }
  // No line is booked before its billing month, and tables are partitioned by booked month.
  return fmt::format(" AND billing_month IN ({}) AND booked_month >= {}", months,
                     clickhouse::sql_literal(delivery_.months.begin()->first));
}

void ImportResolver::add_conflict(RejectedRow row) {
  auto& shown = result_.outcome.conflict_rows;
  if (shown.size() < kConflictRowsShown) shown.push_back(row);
  result_.rejected.push_back(std::move(row));
}

}  // namespace pennyweight
