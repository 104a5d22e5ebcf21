// ImportResolver: what all kinds of facts share when an import decides which of its rows count. For
// one range of keys after another it reads the staged rows and the ledger's rows by their
// fingerprints, and writes the rows to keep once more. KeyedFactResolver decides for facts whose
// key is their id, ChargeResolver for bill lines.
//
// Not thread-safe.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/try.h"
#include "ledger/store/clickhouse/column_io.h"
#include "ledger/store/clickhouse/database.h"
#include "ledger/store/clickhouse/import_resolution.h"
#include "ledger/store/clickhouse/staged_range.h"
#include "ledger/store/clickhouse/verdicts.h"
#include "ledger/store_rules.h"

namespace pennyweight {

// How many fingerprints one statement lists, which keeps it below ClickHouse's limit on its length.
inline constexpr std::size_t kListedMax = 2'000;

// The fingerprint that identifies a fact: the natural key of a charge, the id of others.
template <class Fact>
constexpr const char* key_column() {
  return std::is_same_v<Fact, Charge> ? "natural_key" : Table<Fact>::kId;
}

// "column IN (…)"
std::string is_one_of(const char* column, std::span<const Hash128> hashes);
// Turns "table WHERE …" into "table PREWHERE column IN (…) WHERE …", so that the engine reads the
// other columns of these rows only.
std::string narrowed(std::string from, const std::string& condition);
// The error for a table that doesn't return the rows that were sent to it.
std::unexpected<Error> rows_not_returned(const char* table);

// Calls visit(some) with the values, at most kListedMax at a time.
template <class Value, class Visit>
Result<void> in_lists(std::span<const Value> values, const Visit& visit) {
  for (std::size_t begin = 0; begin < values.size(); begin += kListedMax) {
    const auto some = values.subspan(begin, std::min(kListedMax, values.size() - begin));
    TRY(visit(some));
  }
  return {};
}

// The columns of facts, then the natural key of charges, then the content fingerprint; and the
// facts of such a block, each with its StagedRow.
template <class Fact>
std::string rows_and_facts_columns() {
  return clickhouse_fact_columns<Fact>() +
         (std::is_same_v<Fact, Charge> ? ", natural_key, content" : ", content");
}
template <class Fact>
Result<std::vector<std::pair<StagedRow, Fact>>> rows_and_facts(const clickhouse::Block& block,
                                                               const ImportNumbers& numbers) {
  std::vector<Fact> facts = TRY(facts_of<Fact>(block, numbers));
  const std::size_t last = block.columns.size() - 1;
  std::vector<std::pair<StagedRow, Fact>> found;
  found.reserve(facts.size());
  for (std::size_t row = 0; row < facts.size(); ++row) {
    Fact& fact = facts[row];
    const Hash128 key =
        std::is_same_v<Fact, Charge> ? block.columns[last - 1].hash(row) : fact.id.hash;
    const StagedRow staged = {key, block.columns[last].hash(row), fact.source.line};
    found.emplace_back(staged, std::move(fact));
  }
  return found;
}

class ImportResolver {
 public:
  // All references must outlive this. `closed`: the months that are closed in `ledger`.
  ImportResolver(ClickhouseDatabase& database, const Snapshot& ledger,
                 const StagedDelivery& delivery, const std::function<Result<void>()>& between,
                 std::set<std::string> closed);

  ClickhouseDatabase& database() { return database_; }
  const Snapshot& ledger() const { return ledger_; }
  const StagedDelivery& delivery() const { return delivery_; }
  Result<void> between() const { return between_(); }
  ImportResolution& result() { return result_; }
  bool is_any_closed() const { return !closed_.empty(); }
  bool is_closed(const std::string& month) const { return closed_.contains(month); }
  const std::string& booked_month_of(const std::string& month);

  template <class Visit>
  Result<void> each_block(const std::string& sql, const Visit& visit) {
    const ClickhouseDatabase::Loan client = database_.lend();
    return client->query(sql, visit, database_.reading());
  }
  // The same with smaller blocks, for whole facts.
  template <class Visit>
  Result<void> each_block_of_facts(const std::string& sql, const Visit& visit) {
    const ClickhouseDatabase::Loan client = database_.lend();
    return client->query(sql, visit, database_.reading_facts());
  }
  Result<std::uint64_t> count(const std::string& sql) {
    const ClickhouseDatabase::Loan client = database_.lend();
    return count_of(*client, database_, sql);
  }

  // " AND …": the keys of one range.
  template <class Fact>
  std::string of_part(const KeyRanges& parts, std::uint64_t part) const;
  // " AND …": where the ledger may hold facts with the delivered keys.
  template <class Fact>
  std::string of_ledger() const;
  // "(SELECT key FROM …)": the delivered keys.
  template <class Fact>
  std::string keys_of(const std::string& here) const {
    return fmt::format("(SELECT {} FROM {}{})", key_column<Fact>(), delivery_.rows.rows_of<Fact>(),
                       here);
  }

  // The staged rows that meet the condition `here`, sorted.
  template <class Fact>
  Result<StagedRange> read_staged(const std::string& here);
  // Writes those of them that are kept to result().instead.
  template <class Fact>
  Result<void> write(const std::string& here, StagedRange& staged);
  template <class Fact>
  Result<void> read_facts(const std::string& from, std::map<StagedRow, Fact>& found);

  // How many more conflicts may be described; all are counted.
  std::uint64_t conflicts_left() const { return conflicts_max_; }
  void use_up_conflicts(std::uint64_t count) { conflicts_max_ -= count; }
  void add_conflict(RejectedRow row);

 private:
  std::string of_delivered_months() const;
  template <class Fact>
  Result<void> write_block(const clickhouse::Block& block, StagedRange& staged,
                           std::uint64_t& written);

  ClickhouseDatabase& database_;
  const Snapshot& ledger_;
  const StagedDelivery& delivery_;
  const std::function<Result<void>()>& between_;
  std::uint64_t conflicts_max_;
  std::set<std::string> closed_;
  std::map<std::string, std::string> booked_months_;  // of billing months
  ImportResolution result_;
};

template <class Fact>
std::string ImportResolver::of_part(const KeyRanges& parts, std::uint64_t part) const {
  std::string condition;
  const auto add = [&](const char* comparison, const Hash128& bound) {
    condition += fmt::format(" AND {} {} {}", key_column<Fact>(), comparison,
                             clickhouse::sql_literal(bound));
  };
  if (part > 0) add(">=", parts.begin(part));
  if (part + 1 < parts.count()) add("<", parts.begin(part + 1));
  return condition;
}

template <class Fact>
std::string ImportResolver::of_ledger() const {
  if constexpr (std::is_same_v<Fact, Charge>) {
    return of_delivered_months() + " AND takes_back IS NULL";
  } else {
    return delivery_.rows.of<Fact>().range_condition();
  }
}

template <class Fact>
Result<StagedRange> ImportResolver::read_staged(const std::string& here) {
  StagedRange staged;
  TRY(each_block(fmt::format("SELECT {}, content, source_line FROM {}{}", key_column<Fact>(),
                             delivery_.rows.rows_of<Fact>(), here),
                 [&](const clickhouse::Block& block) -> Result<bool> {
                   const auto &keys = block.columns[0], &contents = block.columns[1];
                   const auto& lines = block.columns[2];
                   for (std::uint64_t row = 0; row < block.rows; ++row) {
                     staged.add({keys.hash(row), contents.hash(row), lines.uint64(row)});
                   }
                   return true;
                 }));
  staged.sort();
  return staged;
}

template <class Fact>
Result<void> ImportResolver::write_block(const clickhouse::Block& block, StagedRange& staged,
                                         std::uint64_t& written) {
  auto read = TRY(rows_and_facts<Fact>(block, ledger_.numbers()));
  std::vector<const Fact*> facts;
  std::vector<ClickhouseFactKeys> keys;
  for (const auto& [row, fact] : read) {
    std::optional<std::uint64_t> ordinal;
    if (!staged.take(row, ordinal)) continue;
    if (!ordinal) continue;
    facts.push_back(&fact);
    if constexpr (std::is_same_v<Fact, Charge>) {
      const std::string month = month_of(fact.billing_period.begin());
      const std::string& booked = booked_month_of(month);
      if (booked != month) ++result_.outcome.restated.late;
      keys.push_back({.id = numbered(row.content, *ordinal).hash,
                      .second = row.key,
                      .content = row.content,
                      .booked_month = booked,
                      .ordinal = *ordinal});
    } else {
      keys.push_back({.id = row.key, .second = row.content});
    }
  }
  written += facts.size();
  return result_.instead->of<Fact>().add(facts, keys);
}

template <class Fact>
Result<void> ImportResolver::write(const std::string& here, StagedRange& staged) {
  // So many rows are asked for by their fingerprints; more than that, and the whole part is read.
  constexpr std::size_t kAskedByNameMax = 10 * kListedMax;
  if (staged.kept() == 0) return {};
  std::uint64_t written = 0;
  const auto copy = [&](const std::string& from) {
    return each_block_of_facts(
        fmt::format("SELECT {} FROM {}{}", rows_and_facts_columns<Fact>(), from, here),
        [&](const clickhouse::Block& block) -> Result<bool> {
          TRY(write_block<Fact>(block, staged, written));
          return true;
        });
  };
  const std::string from = delivery_.rows.rows_of<Fact>();
  Result<void> done = {};
  if (staged.kept() <= kAskedByNameMax && staged.kept() * 10 <= staged.rows().size()) {
    std::vector<Hash128> contents;
    for (const std::size_t row : staged.kept_rows()) contents.push_back(staged.rows()[row].content);
    std::ranges::sort(contents);
    const auto rest = std::ranges::unique(contents);
    contents.erase(rest.begin(), rest.end());
    done = in_lists(std::span<const Hash128>(contents), [&](std::span<const Hash128> some) {
      return copy(narrowed(from, is_one_of("content", some)));
    });
  } else {
    done = copy(from);
  }
  if (done && written != staged.kept()) return rows_not_returned(Table<Fact>::kName);
  return done;
}

template <class Fact>
Result<void> ImportResolver::read_facts(const std::string& from, std::map<StagedRow, Fact>& found) {
  return each_block_of_facts(fmt::format("SELECT {} FROM {}", rows_and_facts_columns<Fact>(), from),
                             [&](const clickhouse::Block& block) -> Result<bool> {
                               auto read = TRY(rows_and_facts<Fact>(block, ledger_.numbers()));
                               for (auto& [row, fact] : read) found.emplace(row, std::move(fact));
                               return true;
                             });
}

}  // namespace pennyweight
