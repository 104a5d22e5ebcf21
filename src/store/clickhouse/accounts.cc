#include "store/clickhouse/accounts.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace pennyweight {
namespace {

std::string of_month(const std::string& month) {
  return month.empty() ? "" : " AND billing_month = " + clickhouse::quoted(month);
}

// By the import that took them back, then id.
using Retirements = std::vector<std::pair<std::uint64_t, FactId>>;

Result<Retirements> retirements(const Scan& scan) {
  Retirements found;
  const Result<bool> read =
      scan.visit("SELECT session, charge_id FROM " + scan.snapshot().facts("retired_charges"),
                 [&](const clickhouse::Block& block) -> Result<bool> {
                   for (std::uint64_t row = 0; row < block.rows; ++row) {
                     found.emplace_back(scan.snapshot().numbers().of(block.columns[0].uint64(row)),
                                        FactId{block.columns[1].hash(row)});
                   }
                   return true;
                 });
  if (!read) return std::unexpected(read.error());
  std::ranges::sort(found);
  return found;
}

std::string all_retired(const Scan& scan, const char* column) {
  return std::string("(SELECT ") + column + " FROM " + scan.snapshot().facts("retired_charges") +
         ")";
}

}  // namespace

Result<std::vector<RetiredCharge>> clickhouse_retired_charges(const Scan& scan,
                                                              const std::string& month) {
  std::vector<RetiredCharge> found;
  const Result<Retirements> retired = retirements(scan);
  if (!retired) return std::unexpected(retired.error());
  if (retired->empty()) return found;
  auto lines = scan.collect<Charge>(" AND charge_id GLOBAL IN " + all_retired(scan, "charge_id") +
                                    of_month(month));
  if (!lines) return std::unexpected(std::move(lines.error()));
  auto reversals = scan.collect<Charge>(" AND isNotNull(takes_back)" + of_month(month));
  if (!reversals) return std::unexpected(std::move(reversals.error()));
  std::map<FactId, Charge> by_id, by_original;
  for (Charge& line : *lines) {
    const FactId id = line.id;
    by_id.emplace(id, std::move(line));
  }
  for (Charge& reversal : *reversals) {
    const FactId original = *reversal.takes_back;
    by_original.emplace(original, std::move(reversal));
  }
  for (const auto& [number, id] : *retired) {
    const auto line = by_id.find(id);
    if (line == by_id.end()) continue;  // of another month
    found.push_back({line->second, number, std::nullopt});
    const auto reversal = by_original.find(id);
    if (reversal != by_original.end()) found.back().taken_back = reversal->second;
  }
  return found;
}

Result<std::vector<Charge>> clickhouse_restated_charges(const Scan& scan,
                                                        const std::string& month) {
  auto lines = scan.collect<Charge>(" AND isNull(takes_back)" + of_month(month) +
                                    " AND (booked_month != billing_month OR session GLOBAL IN " +
                                    all_retired(scan, "session") + ")");
  if (!lines) return lines;
  std::ranges::sort(*lines, {},
                    [](const Charge& line) { return std::tuple(line.import_number, line.id); });
  return lines;
}

Result<std::vector<IssuedInvoice>> clickhouse_issued_invoices(const Scan& scan) {
  std::vector<IssuedInvoice> found;
  const auto take = [&](const clickhouse::Block& block) -> Result<bool> {
    for (std::uint64_t row = 0; row < block.rows; ++row) {
      const auto text = [&](std::size_t i) { return std::string(block.columns[i].text(row)); };
      found.push_back({.number = text(0),
                       .month = text(1),
                       .customer = text(2),
                       .issued_at = from_unix_ms(block.columns[3].int64(row)),
                       .document = text(4),
                       .digest = block.columns[5].hash(row),
                       .refers_to = text(6)});
    }
    return true;
  };
  const Result<bool> read =
      scan.visit("SELECT number, month, customer, issued_at, document, digest, refers_to FROM " +
                     scan.all("invoices") + " WHERE " + scan.snapshot().counts(kInvoicesEntry) +
                     " ORDER BY number",
                 take);
  if (!read) return std::unexpected(read.error());
  return found;
}

}  // namespace pennyweight
