// What is done with the columns that columns.h lists.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "duckdb/appender.h"
#include "duckdb/rows.h"
#include "store/columns/columns.h"

namespace pennyweight {

// Collects names and SQL types.
class Schema {
 public:
  void text(const char* name, auto) { add(name, "VARCHAR"); }
  void id(const char* name, auto) { add(name, "VARCHAR"); }
  void choice(const char* name, auto, auto) { add(name, "VARCHAR"); }
  void optional_choice(const char* name, auto, auto) { add(name, "VARCHAR"); }
  void spelled(const char* name, auto, auto) { add(name, "VARCHAR"); }
  void boolean(const char* name, auto) { add(name, "BOOLEAN"); }
  void count(const char* name, auto) { add(name, "UBIGINT"); }
  void small_count(const char* name, auto) { add(name, "UINTEGER"); }
  void optional_count(const char* name, auto) { add(name, "UBIGINT"); }
  void optional_decimal(const char* name, auto) { add(name, "DECIMAL(38,18)"); }
  void instant(const char* name, auto) { add(name, "TIMESTAMP_MS"); }
  void optional_instant(const char* name, auto) { add(name, "TIMESTAMP_MS"); }
  void date(const char* name, auto) { add(name, "DATE"); }
  void interval(const char* begin, const char* end, auto) {
    add(begin, "TIMESTAMP_MS");
    add(end, "TIMESTAMP_MS");
  }
  void costs(auto) {
    add("currency", "VARCHAR");
    for (const char* name : {"billed_cost", "effective_cost", "list_cost", "contracted_cost"}) {
      add(name, "DECIMAL(38,18)");
    }
  }
  void money(const char* currency, const char* amount, auto) {
    add(currency, "VARCHAR");
    add(amount, "DECIMAL(38,18)");
  }
  void labels(const char* name, auto) { add(name, "MAP(VARCHAR, VARCHAR)"); }
  void mig_instances(const char* name, auto) { add(name, "STRUCT(id VARCHAR, profile VARCHAR)[]"); }
  void fact_id(const char* name, auto) { add(name, "UUID"); }
  void optional_fact_id(const char* name, auto) { add(name, "UUID"); }
  void wide(const char* name, auto) { add(name, "HUGEINT"); }
  void quantity(const char* name, auto) { add(name, "HUGEINT"); }

  void add(std::string name, std::string type) {
    columns_.emplace_back(std::move(name), std::move(type));
  }
  // "name TYPE, name TYPE"
  std::string definition() const {
    std::string text;
    for (const auto& [name, type] : columns_)
      text += (text.empty() ? "" : ", ") + name + " " + type;
    return text;
  }
  // "prefix.name, prefix.name"
  std::string names(const std::string& prefix = {}) const {
    std::string text;
    for (const auto& [name, type] : columns_) text += (text.empty() ? "" : ", ") + prefix + name;
    return text;
  }

  template <class Fact>
  static Schema of() {
    Schema schema;
    Table<Fact>::list(schema);
    return schema;
  }

 private:
  std::vector<std::pair<std::string, std::string>> columns_;
};

// Fills the appender's chunk with facts, column by column.
template <class Fact>
class ColumnFiller {
 public:
  ColumnFiller(duckdb::Appender& appender, std::span<const Fact* const> facts)
      : appender_(appender), facts_(facts) {}

  // The next column, by set(writer, row, fact).
  void each(const auto& set) {
    duckdb::ColumnWriter writer = appender_.column(next_++);
    for (std::size_t row = 0; row < facts_.size(); ++row) set(writer, row, *facts_[row]);
  }
  // Whether every number was within what the columns hold.
  bool in_range() const { return in_range_; }

  void text(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) { writer.set_text(row, fact.*field); });
  }
  void id(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_text(row, (fact.*field).text());
    });
  }
  void choice(const char*, auto field, auto) {
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_text(row, to_text(fact.*field));
    });
  }
  void optional_choice(const char*, auto field, auto) {
    each([&](auto& writer, auto row, const Fact& fact) {
      fact.*field ? writer.set_text(row, to_text(*(fact.*field))) : writer.set_null(row);
    });
  }
  void spelled(const char* name, auto field, auto parse) { choice(name, field, parse); }
  void boolean(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) { writer.set_bool(row, fact.*field); });
  }
  void count(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) { writer.set_uint64(row, fact.*field); });
  }
  void small_count(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) { writer.set_uint32(row, fact.*field); });
  }
  void optional_count(const char* name, auto field) { count(name, field); }
  void optional_decimal(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      fact.*field ? set_decimal(writer, row, *(fact.*field)) : writer.set_null(row);
    });
  }
  void instant(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_timestamp_ms(row, fact.*field);
    });
  }
  void optional_instant(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      fact.*field ? writer.set_timestamp_ms(row, *(fact.*field)) : writer.set_null(row);
    });
  }
  void date(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) { writer.set_date(row, fact.*field); });
  }
  void interval(const char*, const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_timestamp_ms(row, (fact.*field).begin());
    });
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_timestamp_ms(row, (fact.*field).end());
    });
  }
  void costs(auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_text(row, (fact.*field).currency().text());
    });
    for (const auto part : {&Costs::billed, &Costs::effective, &Costs::list, &Costs::contracted}) {
      each([&](auto& writer, auto row, const Fact& fact) {
        set_decimal(writer, row, (fact.*field.*part).amount());
      });
    }
  }
  void money(const char*, const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_text(row, (fact.*field).currency().text());
    });
    each([&](auto& writer, auto row, const Fact& fact) {
      set_decimal(writer, row, (fact.*field).amount());
    });
  }
  void labels(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      pairs_.clear();
      for (const auto& [key, value] : (fact.*field).entries()) pairs_.emplace_back(key, value);
      writer.set_pairs(row, pairs_);
    });
  }
  void mig_instances(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      pairs_.clear();
      for (const MigInstance& mig : fact.*field) pairs_.emplace_back(mig.id.text(), mig.profile);
      writer.set_pairs(row, pairs_);
    });
  }
  void fact_id(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_uuid(row, (fact.*field).hash);
    });
  }
  void optional_fact_id(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      fact.*field ? writer.set_uuid(row, (fact.*field)->hash) : writer.set_null(row);
    });
  }
  void wide(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) { set_wide(writer, row, fact.*field); });
  }
  void quantity(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      set_wide(writer, row, (fact.*field).count());
    });
  }

 private:
  void set_decimal(duckdb::ColumnWriter& writer, std::uint64_t row, Decimal value) {
    in_range_ &= value.ticks() <= Decimal::kTicksMax && value.ticks() >= -Decimal::kTicksMax;
    writer.set_decimal(row, value.ticks());
  }
  void set_wide(duckdb::ColumnWriter& writer, std::uint64_t row, UInt128 value) {
    in_range_ &= value <= static_cast<UInt128>(kInt128Max);
    writer.set_hugeint(row, static_cast<Int128>(value));
  }

  duckdb::Appender& appender_;
  std::span<const Fact* const> facts_;
  std::uint64_t next_ = 0;
  bool in_range_ = true;
  std::vector<duckdb::ColumnWriter::Pair> pairs_;
};

// Reads facts from the chunk at hand, column by column. What was tampered with in the file and no
// longer parses makes failed_column() tell which.
template <class Fact>
class ColumnReader {
 public:
  // `first` is the index of the first listed column among the result's.
  ColumnReader(const duckdb::Rows& rows, std::uint64_t first, std::span<Fact> facts)
      : rows_(rows), facts_(facts), next_(first) {}

  const char* failed_column() const { return failed_; }
  std::uint64_t next_column() const { return next_; }

  void text(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) { fact.*field = column.text(row); });
  }
  void id(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      fact.*field = std::remove_reference_t<decltype(fact.*field)>(std::string(column.text(row)));
    });
  }
  void choice(const char* name, auto field, auto parse) {
    each([&](const auto& column, auto row, Fact& fact) {
      take(name, parse(column.text(row)), fact.*field);
    });
  }
  void optional_choice(const char* name, auto field, auto parse) {
    each([&](const auto& column, auto row, Fact& fact) {
      if (column.is_null(row)) return;
      fact.*field = parse(column.text(row));
      if (!(fact.*field)) failed_ = name;
    });
  }
  void spelled(const char* name, auto field, auto parse) { choice(name, field, parse); }
  void boolean(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) { fact.*field = column.boolean(row); });
  }
  void count(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) { fact.*field = column.uint64(row); });
  }
  void small_count(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) { fact.*field = column.uint32(row); });
  }
  void optional_count(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      if (!column.is_null(row)) fact.*field = column.uint64(row);
    });
  }
  void optional_decimal(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      if (!column.is_null(row)) fact.*field = Decimal::from_ticks(column.unscaled(row));
    });
  }
  void instant(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) { fact.*field = column.timestamp_ms(row); });
  }
  void optional_instant(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      if (!column.is_null(row)) fact.*field = column.timestamp_ms(row);
    });
  }
  void date(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) { fact.*field = column.date(row); });
  }
  void interval(const char* begin, const char*, auto field) {
    const duckdb::Column from = rows_.column(next_++);
    each([&](const auto& to, auto row, Fact& fact) {
      take(begin, Interval::of(from.timestamp_ms(row), to.timestamp_ms(row)), fact.*field);
    });
  }
  void costs(auto field) {
    std::vector<Currency> currencies;
    const duckdb::Column codes = rows_.column(next_++);
    for (std::size_t row = 0; row < facts_.size(); ++row) {
      const Result<Currency> currency = Currency::parse(codes.text(row));
      if (!currency) failed_ = "currency";
      currencies.push_back(currency.value_or(kUsd));
    }
    for (const auto part : {&Costs::billed, &Costs::effective, &Costs::list, &Costs::contracted}) {
      each([&](const auto& column, auto row, Fact& fact) {
        fact.*field.*part = Money::from_ticks(column.unscaled(row), currencies[row]);
      });
    }
  }
  void money(const char* currency, const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      if (const Result<Currency> code = Currency::parse(column.text(row))) {
        fact.*field = Money::zero(*code);
      } else {
        failed_ = currency;
      }
    });
    each([&](const auto& column, auto row, Fact& fact) {
      fact.*field = Money::from_ticks(column.unscaled(row), (fact.*field).currency());
    });
  }
  void labels(const char* name, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      column.visit_pairs(row, [&](std::string_view key, std::string_view value) {
        if (!(fact.*field).set(key, value)) failed_ = name;
      });
    });
  }
  void mig_instances(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      column.visit_pairs(row, [&](std::string_view id, std::string_view profile) {
        (fact.*field).push_back({GpuId(std::string(id)), std::string(profile)});
      });
    });
  }
  void fact_id(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) { fact.*field = FactId{column.uuid(row)}; });
  }
  void optional_fact_id(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      if (!column.is_null(row)) fact.*field = FactId{column.uuid(row)};
    });
  }
  void wide(const char* name, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      fact.*field = unsigned_of(name, column.hugeint(row));
    });
  }
  void quantity(const char* name, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      fact.*field = std::remove_reference_t<decltype(fact.*field)>::of(
          unsigned_of(name, column.hugeint(row)));
    });
  }

 private:
  void each(const auto& get) {
    const duckdb::Column column = rows_.column(next_++);
    for (std::size_t row = 0; row < facts_.size(); ++row) get(column, row, facts_[row]);
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

  const duckdb::Rows& rows_;
  std::span<Fact> facts_;
  std::uint64_t next_;
  const char* failed_ = nullptr;
};

}  // namespace pennyweight
