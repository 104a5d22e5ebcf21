// The visitors of store/columns for ClickHouse: they define tables, fill the blocks that are sent,
// and read the blocks that come back.
//
//   Hash128            FixedString(16), its big end first
//   Instant            Int64, milliseconds since 1970
//   date               Int32, days since 1970
//   money, decimals    Decimal(38,18)
//   wide, quantities   Decimal(38,0), of which all 127 bits are used
//   intervals          two Int64; one that may be absent is then 0 and 0
//   labels             two Array(String): <name>_keys and <name>_values, by key
//   MIG instances      two Array(String): <name>_ids and <name>_profiles
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/clickhouse/block.h"
#include "core/error.h"
#include "ledger/store/clickhouse/import_numbers.h"
#include "ledger/store/columns/columns.h"

namespace pennyweight::clickhouse_io {

inline constexpr const char* kHash = "FixedString(16)";
inline constexpr const char* kMoney = "Decimal(38, 18)";
inline constexpr const char* kWide = "Decimal(38, 0)";
inline constexpr const char* kTexts = "Array(String)";
inline std::string nullable(const std::string& type) { return "Nullable(" + type + ")"; }

// Collects names and ClickHouse types.
class Schema {
 public:
  void text(const std::string& name, auto) { add(name, "String"); }
  void id(const std::string& name, auto) { add(name, "String"); }
  void choice(const std::string& name, auto, auto) { add(name, "String"); }
  void optional_choice(const std::string& name, auto, auto) { add(name, nullable("String")); }
  void spelled(const std::string& name, auto, auto) { add(name, "String"); }
  void boolean(const std::string& name, auto) { add(name, "UInt8"); }
  void count(const std::string& name, auto) { add(name, "UInt64"); }
  void small_count(const std::string& name, auto) { add(name, "UInt32"); }
  void optional_count(const std::string& name, auto) { add(name, nullable("UInt64")); }
  void optional_decimal(const std::string& name, auto) { add(name, nullable(kMoney)); }
  void instant(const std::string& name, auto) { add(name, "Int64"); }
  void optional_instant(const std::string& name, auto) { add(name, nullable("Int64")); }
  void date(const std::string& name, auto) { add(name, "Int32"); }
  void interval(const std::string& begin, const std::string& end, auto) {
    add(begin, "Int64");
    add(end, "Int64");
  }
  void costs(auto) {
    add("currency", "String");
    for (const char* name : {"billed_cost", "effective_cost", "list_cost", "contracted_cost"}) {
      add(name, kMoney);
    }
  }
  void money(const std::string& currency, const std::string& amount, auto) {
    add(currency, "String");
    add(amount, kMoney);
  }
  void labels(const std::string& name, auto) {
    add(name + "_keys", kTexts);
    add(name + "_values", kTexts);
  }
  void mig_instances(const std::string& name, auto) {
    add(name + "_ids", kTexts);
    add(name + "_profiles", kTexts);
  }
  void fact_id(const std::string& name, auto) { add(name, kHash); }
  void optional_fact_id(const std::string& name, auto) { add(name, nullable(kHash)); }
  void hash(const std::string& name, auto) { add(name, kHash); }
  void milliseconds(const std::string& name, auto) { add(name, "UInt64"); }
  void optional_interval(const std::string& begin, const std::string& end, auto) {
    add(begin, "Int64");
    add(end, "Int64");
  }
  void wide(const std::string& name, auto) { add(name, kWide); }
  void quantity(const std::string& name, auto) { add(name, kWide); }

  void add(std::string name, std::string type) {
    columns_.push_back({std::move(name), std::move(type)});
  }
  const std::vector<clickhouse::ColumnSpec>& columns() const { return columns_; }
  // "prefix.name, prefix.name"
  std::string names(const std::string& prefix = {}) const {
    std::string text;
    for (const auto& column : columns_) text += (text.empty() ? "" : ", ") + prefix + column.name;
    return text;
  }

  template <class Record>
  static Schema of() {
    Schema schema;
    Table<Record>::list(schema);
    return schema;
  }

 private:
  std::vector<clickhouse::ColumnSpec> columns_;
};

// Whether every number of a fact is within what its column holds.
template <class Fact>
class RangeCheck {
 public:
  explicit RangeCheck(const Fact& fact) : fact_(fact) {}
  bool in_range() const { return in_range_; }

  void text(const char*, auto) {}
  void id(const char*, auto) {}
  void choice(const char*, auto, auto) {}
  void optional_choice(const char*, auto, auto) {}
  void spelled(const char*, auto, auto) {}
  void boolean(const char*, auto) {}
  void count(const char*, auto) {}
  void small_count(const char*, auto) {}
  void optional_count(const char*, auto) {}
  void optional_decimal(const char*, auto field) {
    if (std::invoke(field, fact_)) check_ticks((*std::invoke(field, fact_)).ticks());
  }
  void instant(const char*, auto) {}
  void optional_instant(const char*, auto) {}
  void date(const char*, auto) {}
  void interval(const char*, const char*, auto) {}
  void costs(auto field) {
    for (const auto part : {&Costs::billed, &Costs::effective, &Costs::list, &Costs::contracted}) {
      check_ticks((std::invoke(field, fact_).*part).amount().ticks());
    }
  }
  void money(const char*, const char*, auto field) {
    check_ticks(std::invoke(field, fact_).amount().ticks());
  }
  void labels(const char*, auto) {}
  void mig_instances(const char*, auto) {}
  void fact_id(const char*, auto) {}
  void optional_fact_id(const char*, auto) {}
  void wide(const char*, auto field) { check_wide(std::invoke(field, fact_)); }
  void quantity(const char*, auto field) { check_wide(std::invoke(field, fact_).count()); }

 private:
  void check_ticks(Int128 ticks) {
    in_range_ &= ticks <= Decimal::kTicksMax && ticks >= -Decimal::kTicksMax;
  }
  void check_wide(UInt128 value) { in_range_ &= value <= static_cast<UInt128>(kInt128Max); }

  const Fact& fact_;
  bool in_range_ = true;
};

// Appends records to a block, column by column. REQUIRES: they are in range.
template <class Fact>
class ColumnFiller {
 public:
  // `first` is the index of the first listed column among the block's.
  ColumnFiller(clickhouse::BlockWriter& block, std::span<const Fact* const> facts,
               std::uint64_t first = 0)
      : block_(block), facts_(facts), next_(first) {}
  std::uint64_t next_column() const { return next_; }

  // The next column, by add(column, row, fact).
  void each(const auto& add) {
    clickhouse::ColumnWriter& column = block_.column(next_++);
    for (std::size_t row = 0; row < facts_.size(); ++row) add(column, row, *facts_[row]);
  }

  void text(const char*, auto field) {
    each([&](auto& column, auto, const Fact& fact) { column.add_text(std::invoke(field, fact)); });
  }
  void id(const char*, auto field) {
    each([&](auto& column, auto, const Fact& fact) {
      column.add_text(std::invoke(field, fact).text());
    });
  }
  void choice(const char*, auto field, auto) {
    each([&](auto& column, auto, const Fact& fact) {
      column.add_text(to_text(std::invoke(field, fact)));
    });
  }
  void optional_choice(const char*, auto field, auto) {
    each([&](auto& column, auto, const Fact& fact) {
      std::invoke(field, fact) ? column.add_text(to_text(*std::invoke(field, fact)))
                               : column.add_null();
    });
  }
  void spelled(const char* name, auto field, auto parse) { choice(name, field, parse); }
  void boolean(const char*, auto field) {
    each([&](auto& column, auto, const Fact& fact) { column.add_bool(std::invoke(field, fact)); });
  }
  void count(const char*, auto field) {
    each(
        [&](auto& column, auto, const Fact& fact) { column.add_uint64(std::invoke(field, fact)); });
  }
  void small_count(const char*, auto field) {
    each(
        [&](auto& column, auto, const Fact& fact) { column.add_uint32(std::invoke(field, fact)); });
  }
  void optional_count(const char*, auto field) {
    each([&](auto& column, auto, const Fact& fact) {
      std::invoke(field, fact) ? column.add_uint64(*std::invoke(field, fact)) : column.add_null();
    });
  }
  void optional_decimal(const char*, auto field) {
    each([&](auto& column, auto, const Fact& fact) {
      std::invoke(field, fact) ? column.add_wide((*std::invoke(field, fact)).ticks())
                               : column.add_null();
    });
  }
  void instant(const char*, auto field) {
    each([&](auto& column, auto, const Fact& fact) {
      column.add_int64(unix_ms(std::invoke(field, fact)));
    });
  }
  void optional_instant(const char*, auto field) {
    each([&](auto& column, auto, const Fact& fact) {
      std::invoke(field, fact) ? column.add_int64(unix_ms(*std::invoke(field, fact)))
                               : column.add_null();
    });
  }
  void date(const char*, auto field) {
    each([&](auto& column, auto, const Fact& fact) {
      column.add_int32(
          static_cast<std::int32_t>(std::invoke(field, fact).time_since_epoch().count()));
    });
  }
  void interval(const char*, const char*, auto field) {
    each([&](auto& column, auto, const Fact& fact) {
      column.add_int64(unix_ms(std::invoke(field, fact).begin()));
    });
    each([&](auto& column, auto, const Fact& fact) {
      column.add_int64(unix_ms(std::invoke(field, fact).end()));
    });
  }
  void costs(auto field) {
    each([&](auto& column, auto, const Fact& fact) {
      column.add_text(std::invoke(field, fact).currency().text());
    });
    for (const auto part : {&Costs::billed, &Costs::effective, &Costs::list, &Costs::contracted}) {
      each([&](auto& column, auto, const Fact& fact) {
        column.add_wide((std::invoke(field, fact).*part).amount().ticks());
      });
    }
  }
  void money(const char*, const char*, auto field) {
    each([&](auto& column, auto, const Fact& fact) {
      column.add_text(std::invoke(field, fact).currency().text());
    });
    each([&](auto& column, auto, const Fact& fact) {
      column.add_wide(std::invoke(field, fact).amount().ticks());
    });
  }
  void labels(const char*, auto field) {
    each([&](auto& column, auto, const Fact& fact) {
      texts_.clear();
      for (const auto& [key, value] : std::invoke(field, fact).entries()) texts_.push_back(key);
      column.add_texts(texts_);
    });
    each([&](auto& column, auto, const Fact& fact) {
      texts_.clear();
      for (const auto& [key, value] : std::invoke(field, fact).entries()) texts_.push_back(value);
      column.add_texts(texts_);
    });
  }
  void mig_instances(const char*, auto field) {
    each([&](auto& column, auto, const Fact& fact) {
      texts_.clear();
      for (const MigInstance& mig : std::invoke(field, fact)) texts_.push_back(mig.id.text());
      column.add_texts(texts_);
    });
    each([&](auto& column, auto, const Fact& fact) {
      texts_.clear();
      for (const MigInstance& mig : std::invoke(field, fact)) texts_.push_back(mig.profile);
      column.add_texts(texts_);
    });
  }
  void fact_id(const char*, auto field) {
    each([&](auto& column, auto, const Fact& fact) {
      column.add_hash(std::invoke(field, fact).hash);
    });
  }
  void optional_fact_id(const char*, auto field) {
    each([&](auto& column, auto, const Fact& fact) {
      std::invoke(field, fact) ? column.add_hash((*std::invoke(field, fact)).hash)
                               : column.add_null();
    });
  }
  void hash(const char*, auto field) {
    each([&](auto& column, auto, const Fact& fact) { column.add_hash(std::invoke(field, fact)); });
  }
  void milliseconds(const char*, auto field) {
    each([&](auto& column, auto, const Fact& fact) {
      column.add_uint64(static_cast<std::uint64_t>(std::invoke(field, fact).count()));
    });
  }
  void optional_interval(const char*, const char*, auto field) {
    each([&](auto& column, auto, const Fact& fact) {
      const auto& interval = std::invoke(field, fact);
      column.add_int64(interval ? unix_ms(interval->begin()) : 0);
    });
    each([&](auto& column, auto, const Fact& fact) {
      const auto& interval = std::invoke(field, fact);
      column.add_int64(interval ? unix_ms(interval->end()) : 0);
    });
  }
  void wide(const char*, auto field) {
    each([&](auto& column, auto, const Fact& fact) {
      column.add_wide(static_cast<Int128>(std::invoke(field, fact)));
    });
  }
  void quantity(const char*, auto field) {
    each([&](auto& column, auto, const Fact& fact) {
      column.add_wide(static_cast<Int128>(std::invoke(field, fact).count()));
    });
  }

 private:
  clickhouse::BlockWriter& block_;
  std::span<const Fact* const> facts_;
  std::uint64_t next_;
  std::vector<std::string_view> texts_;
};

// Reads records from a block, column by column. A column that was tampered with in the tables and
// no longer parses is named by failed_column().
template <class Fact>
class ColumnReader {
 public:
  // `first` is the index of the first listed column among the block's, `begin` the row of the first
  // fact.
  ColumnReader(const clickhouse::Block& block, std::uint64_t first, std::uint64_t begin,
               std::span<Fact> facts)
      : block_(block), facts_(facts), next_(first), begin_(begin) {}

  const char* failed_column() const { return failed_; }
  std::uint64_t next_column() const { return next_; }

  void text(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      std::invoke(field, fact) = column.text(row);
    });
  }
  void id(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      std::invoke(field, fact) =
          std::remove_cvref_t<decltype(std::invoke(field, fact))>(std::string(column.text(row)));
    });
  }
  void choice(const char* name, auto field, auto parse) {
    each([&](const auto& column, auto row, Fact& fact) {
      take(name, parse(column.text(row)), std::invoke(field, fact));
    });
  }
  void optional_choice(const char* name, auto field, auto parse) {
    each([&](const auto& column, auto row, Fact& fact) {
      if (column.is_null(row)) return;
      std::invoke(field, fact) = parse(column.text(row));
      if (!std::invoke(field, fact)) failed_ = name;
    });
  }
  void spelled(const char* name, auto field, auto parse) { choice(name, field, parse); }
  void boolean(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      std::invoke(field, fact) = column.boolean(row);
    });
  }
  void count(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      std::invoke(field, fact) = column.uint64(row);
    });
  }
  void small_count(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      std::invoke(field, fact) = column.uint32(row);
    });
  }
  void optional_count(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      if (!column.is_null(row)) std::invoke(field, fact) = column.uint64(row);
    });
  }
  void optional_decimal(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      if (!column.is_null(row)) std::invoke(field, fact) = Decimal::from_ticks(column.wide(row));
    });
  }
  void instant(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      std::invoke(field, fact) = from_unix_ms(column.int64(row));
    });
  }
  void optional_instant(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      if (!column.is_null(row)) std::invoke(field, fact) = from_unix_ms(column.int64(row));
    });
  }
  void date(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      std::invoke(field, fact) = std::chrono::sys_days(std::chrono::days(column.int32(row)));
    });
  }
  void interval(const char* begin, const char*, auto field) {
    const clickhouse::Column& from = block_.columns[next_++];
    each([&](const auto& to, auto row, Fact& fact) {
      take(begin, Interval::of(from_unix_ms(from.int64(row)), from_unix_ms(to.int64(row))),
           std::invoke(field, fact));
    });
  }
  void costs(auto field) {
    std::vector<Currency> currencies;
    const clickhouse::Column& codes = block_.columns[next_++];
    currencies.reserve(facts_.size());
    for (std::size_t i = 0; i < facts_.size(); ++i) {
      const Result<Currency> currency = Currency::parse(codes.text(begin_ + i));
      if (!currency) failed_ = "currency";
      currencies.push_back(currency.value_or(kUsd));
    }
    for (const auto part : {&Costs::billed, &Costs::effective, &Costs::list, &Costs::contracted}) {
      each([&](const auto& column, auto row, Fact& fact) {
        std::invoke(field, fact).*part =
            Money::from_ticks(column.wide(row), currencies[row - begin_]);
      });
    }
  }
  void money(const char* currency, const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      if (const Result<Currency> code = Currency::parse(column.text(row))) {
        std::invoke(field, fact) = Money::zero(*code);
      } else {
        failed_ = currency;
      }
    });
    each([&](const auto& column, auto row, Fact& fact) {
      std::invoke(field, fact) =
          Money::from_ticks(column.wide(row), std::invoke(field, fact).currency());
    });
  }
  void labels(const char* name, auto field) {
    each_pair(name, [&](Fact& fact, std::string_view key, std::string_view value) {
      if (!std::invoke(field, fact).set(key, value)) failed_ = name;
    });
  }
  void mig_instances(const char* name, auto field) {
    each_pair(name, [&](Fact& fact, std::string_view id, std::string_view profile) {
      std::invoke(field, fact).push_back({GpuId(std::string(id)), std::string(profile)});
    });
  }
  void fact_id(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      std::invoke(field, fact) = FactId{column.hash(row)};
    });
  }
  void optional_fact_id(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      if (!column.is_null(row)) std::invoke(field, fact) = FactId{column.hash(row)};
    });
  }
  void hash(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      std::invoke(field, fact) = column.hash(row);
    });
  }
  void milliseconds(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      std::invoke(field, fact) = std::chrono::milliseconds(column.uint64(row));
    });
  }
  void optional_interval(const char*, const char*, auto field) {
    const clickhouse::Column& from = block_.columns[next_++];
    each([&](const auto& to, auto row, Fact& fact) {
      std::invoke(field, fact) =
          Interval::of(from_unix_ms(from.int64(row)), from_unix_ms(to.int64(row)));
    });
  }
  void wide(const char* name, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      std::invoke(field, fact) = unsigned_of(name, column.wide(row));
    });
  }
  void quantity(const char* name, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      std::invoke(field, fact) = std::remove_cvref_t<decltype(std::invoke(field, fact))>::of(
          unsigned_of(name, column.wide(row)));
    });
  }

 private:
  void each(const auto& get) {
    const clickhouse::Column& column = block_.columns[next_++];
    for (std::size_t i = 0; i < facts_.size(); ++i) get(column, begin_ + i, facts_[i]);
  }
  void each_pair(const char* name, const auto& get) {
    const clickhouse::Column& first = block_.columns[next_++];
    each([&](const auto& second, auto row, Fact& fact) {
      const auto keys = first.texts(row), values = second.texts(row);
      if (keys.size() != values.size()) {
        failed_ = name;
        return;
      }
      for (std::size_t i = 0; i < keys.size(); ++i) get(fact, keys[i], values[i]);
    });
  }
  template <class Value>
  void take(const char* name, std::optional<Value> value, Value& into) {
    if (value) {
      into = std::move(*value);
    } else {
      failed_ = name;
    }
  }
  UInt128 unsigned_of(const char* name, Int128 value) {
    if (value < 0) failed_ = name;
    return static_cast<UInt128>(value);
  }

  const clickhouse::Block& block_;
  std::span<Fact> facts_;
  std::uint64_t next_;
  std::uint64_t begin_;
  const char* failed_ = nullptr;
};

}  // namespace pennyweight::clickhouse_io

namespace pennyweight {

// The day in UTC of an instant, as the column `day` has it: days since 1970.
inline std::int32_t utc_day(Instant at) {
  return static_cast<std::int32_t>(
      std::chrono::floor<std::chrono::days>(at).time_since_epoch().count());
}

// What a row of a fact table begins with, after its session: its id, a second fingerprint (of a
// charge its natural key, of the others their content), and the line it stood on.
struct ClickhouseFactKeys {
  Hash128 id;
  Hash128 second;
  // Of charges only. Identical lines have one content and are numbered by `ordinal`.
  Hash128 content = {};
  std::string_view booked_month = {};  // lives as long as the keys
  std::uint64_t ordinal = 0;
  std::optional<Hash128> takes_back = {};
};

template <class Fact>
constexpr const char* clickhouse_second_key() {
  return std::is_same_v<Fact, Charge> ? "natural_key" : "content";
}

// The columns of a fact's table: session, id, second fingerprint, source_line; of charges then
// billing_month, booked_month, content, ordinal, takes_back; of usages and outcomes `day`, the day
// in UTC of observed_at or counted_from; then those that are listed.
template <class Fact>
std::vector<clickhouse::ColumnSpec> clickhouse_fact_specs() {
  clickhouse_io::Schema schema;
  schema.add("session", "UInt64");
  schema.add(Table<Fact>::kId, clickhouse_io::kHash);
  schema.add(clickhouse_second_key<Fact>(), clickhouse_io::kHash);
  schema.add("source_line", "UInt64");
  if constexpr (std::is_same_v<Fact, Charge>) {
    schema.add("billing_month", "String");
    schema.add("booked_month", "String");
    schema.add("content", clickhouse_io::kHash);
    schema.add("ordinal", "UInt64");
    schema.add("takes_back", clickhouse_io::nullable(clickhouse_io::kHash));
  }
  if constexpr (std::is_same_v<Fact, Usage> || std::is_same_v<Fact, Outcome>) {
    schema.add("day", "Int32");
  }
  Table<Fact>::list(schema);
  return schema.columns();
}
// Session, then those that are listed.
std::vector<clickhouse::ColumnSpec> clickhouse_posting_specs();

// Appends facts to a block of clickhouse_fact_specs. An Error of kLimit, and nothing appended,
// where a number is beyond its column. REQUIRES: keys for each fact.
template <class Fact>
Result<void> add_facts(clickhouse::BlockWriter& block, std::uint64_t session,
                       std::span<const Fact* const> facts,
                       std::span<const ClickhouseFactKeys> keys);
// The same of clickhouse_posting_specs.
Result<void> add_postings(clickhouse::BlockWriter& block, std::uint64_t session,
                          std::span<const Posting* const> postings);

// "c.charge_id, c.source_line, …": what facts_of reads; `prefix` is "c.", or empty.
template <class Fact>
std::string clickhouse_fact_columns(const std::string& prefix = {}) {
  std::string columns = prefix + Table<Fact>::kId + ", " + prefix + "source_line, ";
  if constexpr (std::is_same_v<Fact, Charge>) {
    columns += prefix + "session, " + prefix + "booked_month, " + prefix + "takes_back, ";
  }
  return columns + clickhouse_io::Schema::of<Fact>().names(prefix);
}
inline std::string clickhouse_posting_columns(const std::string& prefix = {}) {
  return clickhouse_io::Schema::of<Posting>().names(prefix);
}

// Some rows of a block: a block is larger than what should be held as facts at once.
struct RowRange {
  std::uint64_t begin = 0, count = 0;
};
// The facts of a block, whose columns begin with clickhouse_fact_columns.
template <class Fact>
Result<std::vector<Fact>> facts_of(const clickhouse::Block& block, const ImportNumbers& numbers,
                                   RowRange rows);
template <class Fact>
Result<std::vector<Fact>> facts_of(const clickhouse::Block& block, const ImportNumbers& numbers) {
  return facts_of<Fact>(block, numbers, {0, block.rows});
}
// The error where a column holds what no version of pennyweight wrote.
std::unexpected<Error> unreadable_column(const char* column, const char* table);

// The records of a block, whose columns from `first` on are those of Table<Record>.
template <class Record>
Result<std::vector<Record>> records_of(const clickhouse::Block& block, std::uint64_t first = 0) {
  std::vector<Record> records(block.rows, Table<Record>::blank());
  clickhouse_io::ColumnReader<Record> reader(block, first, 0, records);
  Table<Record>::list(reader);
  if (reader.failed_column() != nullptr) {
    return unreadable_column(reader.failed_column(), Table<Record>::kName);
  }
  return records;
}
// "prefix.month, prefix.closed_at, …": what records_of reads.
template <class Record>
std::string clickhouse_record_columns(const std::string& prefix = {}) {
  return clickhouse_io::Schema::of<Record>().names(prefix);
}
// Appends one record's row to a block: a number first, mostly of the session, then its columns.
template <class Record>
void add_record(clickhouse::BlockWriter& block, std::uint64_t number, const Record& record) {
  const Record* const pointer = &record;
  clickhouse_io::ColumnFiller<Record> filler(block, {&pointer, 1});
  filler.each([&](auto& column, auto, const Record&) { column.add_uint64(number); });
  Table<Record>::list(filler);
}

// The postings of a block, whose columns begin with clickhouse_posting_columns.
Result<std::vector<Posting>> postings_of(const clickhouse::Block& block, RowRange rows);
inline Result<std::vector<Posting>> postings_of(const clickhouse::Block& block) {
  return postings_of(block, {0, block.rows});
}

}  // namespace pennyweight
