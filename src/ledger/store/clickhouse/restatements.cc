#include "ledger/store/clickhouse/restatements.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/try.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

std::string of_month(const std::string& month) {
  return month.empty() ? "" : " AND billing_month = " + clickhouse::sql_literal(month);
}

// Ordered by the import that took them back, then by id.
using Retirements = std::vector<std::pair<std::uint64_t, FactId>>;

Result<Retirements> retirements(const Scan& scan) {
  Retirements found;
  std::ignore = TRY(
      scan.visit("SELECT session, charge_id FROM " + scan.snapshot().facts("retired_charges"),
                 [&](const clickhouse::Block& block) -> Result<bool> {
                   for (std::uint64_t row = 0; row < block.rows; ++row) {
                     found.emplace_back(scan.snapshot().numbers().of(block.columns[0].uint64(row)),
                                        FactId{block.columns[1].hash(row)});
                   }
                   return true;
                 }));
  std::ranges::sort(found);
  return found;
}

std::string all_retired(const Scan& scan, const char* column) {
  return std::string("(SELECT ") + column + " FROM " + scan.snapshot().facts("retired_charges") +
         ")";
}

// Which imports retired charges, and the first one that retired each natural key.
struct RetiredKeys {
  std::set<std::uint64_t> imports;
  std::map<Hash128, std::uint64_t> first;

  bool restates(const Charge& line) const {
    if (line.booked_month != month_of(line.billing_period.begin())) return true;
    if (imports.contains(line.import_number)) return true;
    const auto gone = first.find(natural_key(line));
    return gone != first.end() && line.import_number > gone->second;
  }
};

Result<RetiredKeys> retired_keys(const Scan& scan, const Retirements& retired,
                                 const std::string& gone_lines) {
  RetiredKeys keys;
  std::map<FactId, std::uint64_t> by_id;
  for (const auto& [number, id] : retired) {
    keys.imports.insert(number);
    by_id.emplace(id, number);
  }
  const auto gone = TRY(scan.collect<Charge>(gone_lines));
  for (const Charge& line : gone) {
    const std::uint64_t number = by_id.at(line.id);
    const auto first = keys.first.try_emplace(natural_key(line), number).first;
    first->second = std::min(first->second, number);
  }
  return keys;
}

}  // namespace

Result<std::vector<RetiredCharge>> clickhouse_retired_charges(const Scan& scan,
                                                              const std::string& month) {
  std::vector<RetiredCharge> found;
  const Retirements retired = TRY(retirements(scan));
  if (retired.empty()) return found;
  auto lines = TRY(scan.collect<Charge>(" AND charge_id GLOBAL IN " +
                                        all_retired(scan, "charge_id") + of_month(month)));
  auto reversals = TRY(scan.collect<Charge>(" AND isNotNull(takes_back)" + of_month(month)));
  std::map<FactId, Charge> by_id, by_original;
  for (Charge& line : lines) {
    const FactId id = line.id;
    by_id.emplace(id, std::move(line));
  }
  for (Charge& reversal : reversals) {
    const FactId original = *reversal.takes_back;
    by_original.emplace(original, std::move(reversal));
  }
  for (const auto& [number, id] : retired) {
    const auto line = by_id.find(id);
    if (line == by_id.end()) continue;  // belongs to another month
    found.push_back({line->second, number, std::nullopt});
    const auto reversal = by_original.find(id);
    if (reversal != by_original.end()) found.back().taken_back = reversal->second;
  }
  return found;
}

Result<std::vector<Charge>> clickhouse_restated_charges(const Scan& scan,
                                                        const std::string& month) {
  const std::string gone_lines = " AND charge_id GLOBAL IN " + all_retired(scan, "charge_id");
  auto lines = TRY(scan.collect<Charge>(
      " AND isNull(takes_back)" + of_month(month) +
      " AND (booked_month != billing_month OR session GLOBAL IN " + all_retired(scan, "session") +
      " OR natural_key GLOBAL IN (SELECT natural_key FROM " + scan.snapshot().facts("charges") +
      gone_lines + "))"));
  const Retirements retirements_by_import = TRY(retirements(scan));
  const RetiredKeys retired = TRY(retired_keys(scan, retirements_by_import, gone_lines));
  std::erase_if(lines, [&](const Charge& line) { return !retired.restates(line); });
  std::ranges::sort(lines, {},
                    [](const Charge& line) { return std::tuple(line.import_number, line.id); });
  return lines;
}

Result<std::vector<IssuedInvoice>> clickhouse_issued_invoices(const Scan& scan) {
  return scan.records<IssuedInvoice>("WHERE " + scan.snapshot().counts(kInvoicesEntry) +
                                     " ORDER BY number");
}

}  // namespace pennyweight
