// Settling: what settling an import is made of, whichever facts it is: rows of one part of the keys
// are read by their fingerprints, from what came and from the ledger, and what stays of them is
// written once more. keyed_settling judges facts whose key is their id, charge_settling bill lines.
//
// Used by one thread.
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
#include "ledger/keeping.h"
#include "store/clickhouse/column_io.h"
#include "store/clickhouse/database.h"
#include "store/clickhouse/import_settling.h"
#include "store/clickhouse/settle.h"
#include "store/clickhouse/staged_part.h"

namespace pennyweight {

// So many fingerprints stand in one statement, which stays below ClickHouse's limits for its text.
inline constexpr std::size_t kListedMax = 2'000;

// The fingerprint by which facts meet: of charges the natural key, of others their id.
template <class Fact>
constexpr const char* key_column() {
  return std::is_same_v<Fact, Charge> ? "natural_key" : Table<Fact>::kId;
}

// "column IN (…)"
std::string is_one_of(const char* column, std::span<const Hash128> hashes);
// "table PREWHERE column IN (…) WHERE …" of "table WHERE …": only for these rows the engine then
// reads the other columns.
std::string narrowed(std::string from, const std::string& condition);
// What was sent is not what the tables give back.
std::unexpected<Error> rows_moved(const char* table);

// Calls visit(some) with at most kListedMax of the values after another.
template <class Value, class Visit>
Result<void> in_lists(std::span<const Value> values, const Visit& visit) {
  for (std::size_t begin = 0; begin < values.size(); begin += kListedMax) {
    const auto some = values.subspan(begin, std::min(kListedMax, values.size() - begin));
    if (Result<void> done = visit(some); !done) return done;
  }
  return {};
}

// Columns of facts, then the natural key of charges, then the content; and from a block of them the
// facts and what tells each apart.
template <class Fact>
std::string rows_and_facts_columns() {
  return clickhouse_fact_columns<Fact>() +
         (std::is_same_v<Fact, Charge> ? ", natural_key, content" : ", content");
}
template <class Fact>
Result<std::vector<std::pair<StagedRow, Fact>>> rows_and_facts(const clickhouse::Block& block,
                                                               const ImportNumbers& numbers) {
  Result<std::vector<Fact>> facts = facts_of<Fact>(block, numbers);
  if (!facts) return std::unexpected(std::move(facts.error()));
  const std::size_t last = block.columns.size() - 1;
  std::vector<std::pair<StagedRow, Fact>> found;
  found.reserve(facts->size());
  for (std::size_t row = 0; row < facts->size(); ++row) {
    Fact& fact = (*facts)[row];
    const Hash128 key =
        std::is_same_v<Fact, Charge> ? block.columns[last - 1].hash(row) : fact.id.hash;
    const StagedRow told = {key, block.columns[last].hash(row), fact.source.line};
    found.emplace_back(told, std::move(fact));
  }
  return found;
}

class Settling {
 public:
  // All live longer. `closed`: the months of this state of the ledger.
  Settling(ClickhouseDatabase& database, const Snapshot& ledger, const Delivery& delivery,
           const std::function<Result<void>()>& between, std::set<std::string> closed);

  ClickhouseDatabase& database() { return database_; }
  const Snapshot& ledger() const { return ledger_; }
  const Delivery& delivery() const { return delivery_; }
  Result<void> between() const { return between_(); }
  Settlement& made() { return made_; }
  bool is_any_closed() const { return !closed_.empty(); }
  bool is_closed(const std::string& month) const { return closed_.contains(month); }
  const std::string& booked_month_of(const std::string& month);

  template <class Visit>
  Result<void> each_block(const std::string& sql, const Visit& visit) {
    const ClickhouseDatabase::Loan client = database_.lend();
    return client->query(sql, visit, database_.reading());
  }
  // The same, of whole facts.
  template <class Visit>
  Result<void> each_block_of_facts(const std::string& sql, const Visit& visit) {
    const ClickhouseDatabase::Loan client = database_.lend();
    return client->query(sql, visit, database_.reading_facts());
  }
  Result<std::uint64_t> count(const std::string& sql) {
    const ClickhouseDatabase::Loan client = database_.lend();
    return count_of(*client, database_, sql);
  }

  // " AND …": keys of one part.
  template <class Fact>
  std::string of_part(const KeyParts& parts, std::uint64_t part) const;
  // " AND …": where facts of the ledger may be that these can meet.
  template <class Fact>
  std::string of_ledger() const;
  // "(SELECT key FROM …)": the keys that came.
  template <class Fact>
  std::string keys_of(const std::string& here) const {
    return fmt::format("(SELECT {} FROM {}{})", key_column<Fact>(), delivery_.rows.rows_of<Fact>(),
                       here);
  }

  // What came of the part for which `here` holds, sorted.
  template <class Fact>
  Result<StagedPart> read_staged(const std::string& here);
  // Writes what is kept of the part to made().instead.
  template <class Fact>
  Result<void> write(const std::string& here, StagedPart& staged);
  template <class Fact>
  Result<void> read_facts(const std::string& from, std::map<StagedRow, Fact>& found);

  // How many conflicts are still described; all are counted.
  std::uint64_t conflicts_left() const { return conflicts_max_; }
  void use_up_conflicts(std::uint64_t count) { conflicts_max_ -= count; }
  void add_conflict(RejectedRow row);

 private:
  std::string of_delivered_months() const;
  template <class Fact>
  Result<void> write_block(const clickhouse::Block& block, StagedPart& staged,
                           std::uint64_t& written);

  ClickhouseDatabase& database_;
  const Snapshot& ledger_;
  const Delivery& delivery_;
  const std::function<Result<void>()>& between_;
  std::uint64_t conflicts_max_;
  std::set<std::string> closed_;
  std::map<std::string, std::string> booked_months_;  // of billing months
  Settlement made_;
};

template <class Fact>
std::string Settling::of_part(const KeyParts& parts, std::uint64_t part) const {
  std::string condition;
  const auto add = [&](const char* comparison, const Hash128& bound) {
    condition +=
        fmt::format(" AND {} {} {}", key_column<Fact>(), comparison, clickhouse::quoted(bound));
  };
  if (part > 0) add(">=", parts.begin(part));
  if (part + 1 < parts.count()) add("<", parts.begin(part + 1));
  return condition;
}

template <class Fact>
std::string Settling::of_ledger() const {
  if constexpr (std::is_same_v<Fact, Charge>) {
    return of_delivered_months() + " AND takes_back IS NULL";
  } else {
    return delivery_.rows.of<Fact>().reach();
  }
}

template <class Fact>
Result<StagedPart> Settling::read_staged(const std::string& here) {
  StagedPart staged;
  const auto read =
      each_block(fmt::format("SELECT {}, content, source_line FROM {}{}", key_column<Fact>(),
                             delivery_.rows.rows_of<Fact>(), here),
                 [&](const clickhouse::Block& block) -> Result<bool> {
                   const auto &keys = block.columns[0], &contents = block.columns[1];
                   const auto& lines = block.columns[2];
                   for (std::uint64_t row = 0; row < block.rows; ++row) {
                     staged.add({keys.hash(row), contents.hash(row), lines.uint64(row)});
                   }
                   return true;
                 });
  if (!read) return std::unexpected(read.error());
  staged.sort();
  return staged;
}

template <class Fact>
Result<void> Settling::write_block(const clickhouse::Block& block, StagedPart& staged,
                                   std::uint64_t& written) {
  auto read = rows_and_facts<Fact>(block, ledger_.numbers());
  if (!read) return std::unexpected(read.error());
  std::vector<const Fact*> facts;
  std::vector<ClickhouseFactKeys> keys;
  for (const auto& [row, fact] : *read) {
    std::optional<std::uint64_t> ordinal;
    if (!staged.take(row, ordinal)) continue;
    if (!ordinal) continue;
    facts.push_back(&fact);
    if constexpr (std::is_same_v<Fact, Charge>) {
      const std::string month = month_of(fact.billing_period.begin());
      const std::string& booked = booked_month_of(month);
      if (booked != month) ++made_.outcome.restated.late;
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
  return made_.instead->of<Fact>().add(facts, keys);
}

template <class Fact>
Result<void> Settling::write(const std::string& here, StagedPart& staged) {
  // So many rows are asked for by their fingerprints; more than that, and the whole part is read.
  constexpr std::size_t kAskedByNameMax = 10 * kListedMax;
  if (staged.kept() == 0) return {};
  std::uint64_t written = 0;
  const auto copy = [&](const std::string& from) {
    return each_block_of_facts(
        fmt::format("SELECT {} FROM {}{}", rows_and_facts_columns<Fact>(), from, here),
        [&](const clickhouse::Block& block) -> Result<bool> {
          if (auto done = write_block<Fact>(block, staged, written); !done) {
            return std::unexpected(done.error());
          }
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
  if (done && written != staged.kept()) return rows_moved(Table<Fact>::kName);
  return done;
}

template <class Fact>
Result<void> Settling::read_facts(const std::string& from, std::map<StagedRow, Fact>& found) {
  return each_block_of_facts(fmt::format("SELECT {} FROM {}", rows_and_facts_columns<Fact>(), from),
                             [&](const clickhouse::Block& block) -> Result<bool> {
                               auto read = rows_and_facts<Fact>(block, ledger_.numbers());
                               if (!read) return std::unexpected(read.error());
                               for (auto& [row, fact] : *read) found.emplace(row, std::move(fact));
                               return true;
                             });
}

}  // namespace pennyweight
