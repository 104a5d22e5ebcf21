// The visitors of store/columns for DuckDB: they define tables, append and insert records, and read
// them.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/duckdb/appender.h"
#include "core/duckdb/database.h"
#include "core/duckdb/rows.h"
#include "core/try.h"
#include "ledger/store/columns/columns.h"

namespace pennyweight::duckdb_io {

inline constexpr const char* kText = "VARCHAR";
inline constexpr const char* kNumber = "UBIGINT";
inline constexpr const char* kHash = "UUID";

// Collects names and SQL types.
class Schema {
 public:
  void text(const char* name, auto) { add(name, "VARCHAR"); }
  void id(const char* name, auto) { add(name, "VARCHAR"); }
  void choice(const char* name, auto, auto) { add(name, "VARCHAR"); }
  void optional_choice(const char* name, auto, auto) { add_optional(name, "VARCHAR"); }
  void spelled(const char* name, auto, auto) { add(name, "VARCHAR"); }
  void boolean(const char* name, auto) { add(name, "BOOLEAN"); }
  void count(const char* name, auto) { add(name, "UBIGINT"); }
  void small_count(const char* name, auto) { add(name, "UINTEGER"); }
  void optional_count(const char* name, auto) { add_optional(name, "UBIGINT"); }
  void optional_decimal(const char* name, auto) { add_optional(name, "DECIMAL(38,18)"); }
  void instant(const char* name, auto) { add(name, "TIMESTAMP_MS"); }
  void optional_instant(const char* name, auto) { add_optional(name, "TIMESTAMP_MS"); }
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
  void optional_fact_id(const char* name, auto) { add_optional(name, "UUID"); }
  void hash(const char* name, auto) { add(name, "UUID"); }
  void milliseconds(const char* name, auto) { add(name, "UBIGINT"); }
  void optional_interval(const char* begin, const char* end, auto) {
    add_optional(begin, "TIMESTAMP_MS");
    add_optional(end, "TIMESTAMP_MS");
  }
  void wide(const char* name, auto) { add(name, "HUGEINT"); }
  void quantity(const char* name, auto) { add(name, "HUGEINT"); }

  void add(std::string name, std::string type) {
    columns_.push_back({std::move(name), std::move(type), false});
  }
  void add_optional(std::string name, std::string type) {
    columns_.push_back({std::move(name), std::move(type), true});
  }
  // "name TYPE, name TYPE"
  std::string definition() const {
    std::string text;
    for (const DefinedColumn& column : columns_) {
      text += (text.empty() ? "" : ", ") + column.name + " " + column.type;
    }
    return text;
  }
  // "prefix.name, prefix.name"
  std::string names(const std::string& prefix = {}) const {
    std::string text;
    for (const DefinedColumn& column : columns_) {
      text += (text.empty() ? "" : ", ") + prefix + column.name;
    }
    return text;
  }
  struct DefinedColumn {
    std::string name, type;
    bool is_optional;  // it may be NULL
  };
  const std::vector<DefinedColumn>& columns() const { return columns_; }

  template <class Record>
  static Schema of() {
    Schema schema;
    Table<Record>::list(schema);
    return schema;
  }

 private:
  std::vector<DefinedColumn> columns_;
};

// "CREATE TABLE closings (…);": a table without columns of the store's own.
template <class Record>
std::string create_table() {
  return std::string("CREATE TABLE ") + Table<Record>::kName + " (" +
         Schema::of<Record>().definition() + ");";
}

// Fills the appender's chunk with records, column by column.
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
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_text(row, std::invoke(field, fact));
    });
  }
  void id(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_text(row, std::invoke(field, fact).text());
    });
  }
  void choice(const char*, auto field, auto) {
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_text(row, to_text(std::invoke(field, fact)));
    });
  }
  void optional_choice(const char*, auto field, auto) {
    each([&](auto& writer, auto row, const Fact& fact) {
      std::invoke(field, fact) ? writer.set_text(row, to_text(*std::invoke(field, fact)))
                               : writer.set_null(row);
    });
  }
  void spelled(const char* name, auto field, auto parse) { choice(name, field, parse); }
  void boolean(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_bool(row, std::invoke(field, fact));
    });
  }
  void count(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_uint64(row, std::invoke(field, fact));
    });
  }
  void small_count(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_uint32(row, std::invoke(field, fact));
    });
  }
  void optional_count(const char* name, auto field) { count(name, field); }
  void optional_decimal(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      std::invoke(field, fact) ? set_decimal(writer, row, *std::invoke(field, fact))
                               : writer.set_null(row);
    });
  }
  void instant(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_timestamp_ms(row, std::invoke(field, fact));
    });
  }
  void optional_instant(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      std::invoke(field, fact) ? writer.set_timestamp_ms(row, *std::invoke(field, fact))
                               : writer.set_null(row);
    });
  }
  void date(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_date(row, std::invoke(field, fact));
    });
  }
  void interval(const char*, const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_timestamp_ms(row, std::invoke(field, fact).begin());
    });
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_timestamp_ms(row, std::invoke(field, fact).end());
    });
  }
  void costs(auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_text(row, std::invoke(field, fact).currency().text());
    });
    for (const auto part : {&Costs::billed, &Costs::effective, &Costs::list, &Costs::contracted}) {
      each([&](auto& writer, auto row, const Fact& fact) {
        set_decimal(writer, row, (std::invoke(field, fact).*part).amount());
      });
    }
  }
  void money(const char*, const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_text(row, std::invoke(field, fact).currency().text());
    });
    each([&](auto& writer, auto row, const Fact& fact) {
      set_decimal(writer, row, std::invoke(field, fact).amount());
    });
  }
  void labels(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      pairs_.clear();
      for (const auto& [key, value] : std::invoke(field, fact).entries())
        pairs_.emplace_back(key, value);
      writer.set_pairs(row, pairs_);
    });
  }
  void mig_instances(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      pairs_.clear();
      for (const MigInstance& mig : std::invoke(field, fact))
        pairs_.emplace_back(mig.id.text(), mig.profile);
      writer.set_pairs(row, pairs_);
    });
  }
  void fact_id(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_uuid(row, std::invoke(field, fact).hash);
    });
  }
  void optional_fact_id(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      std::invoke(field, fact) ? writer.set_uuid(row, std::invoke(field, fact)->hash)
                               : writer.set_null(row);
    });
  }
  void hash(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      writer.set_uuid(row, std::invoke(field, fact));
    });
  }
  void wide(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      set_wide(writer, row, std::invoke(field, fact));
    });
  }
  void quantity(const char*, auto field) {
    each([&](auto& writer, auto row, const Fact& fact) {
      set_wide(writer, row, std::invoke(field, fact).count());
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

// Reads records from the chunk at hand, column by column. A column that was tampered with in the
// file and no longer parses is named by failed_column().
template <class Fact>
class ColumnReader {
 public:
  // `first` is the index of the first listed column among the result's.
  ColumnReader(const duckdb::Rows& rows, std::uint64_t first, std::span<Fact> facts)
      : rows_(rows), facts_(facts), next_(first) {}

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
      if (!column.is_null(row))
        std::invoke(field, fact) = Decimal::from_ticks(column.unscaled(row));
    });
  }
  void instant(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      std::invoke(field, fact) = column.timestamp_ms(row);
    });
  }
  void optional_instant(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      if (!column.is_null(row)) std::invoke(field, fact) = column.timestamp_ms(row);
    });
  }
  void date(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      std::invoke(field, fact) = column.date(row);
    });
  }
  void interval(const char* begin, const char*, auto field) {
    const duckdb::Column from = rows_.column(next_++);
    each([&](const auto& to, auto row, Fact& fact) {
      take(begin, Interval::of(from.timestamp_ms(row), to.timestamp_ms(row)),
           std::invoke(field, fact));
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
        std::invoke(field, fact).*part = Money::from_ticks(column.unscaled(row), currencies[row]);
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
          Money::from_ticks(column.unscaled(row), std::invoke(field, fact).currency());
    });
  }
  void labels(const char* name, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      column.visit_pairs(row, [&](std::string_view key, std::string_view value) {
        if (!std::invoke(field, fact).set(key, value)) failed_ = name;
      });
    });
  }
  void mig_instances(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      column.visit_pairs(row, [&](std::string_view id, std::string_view profile) {
        std::invoke(field, fact).push_back({GpuId(std::string(id)), std::string(profile)});
      });
    });
  }
  void fact_id(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      std::invoke(field, fact) = FactId{column.uuid(row)};
    });
  }
  void optional_fact_id(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      if (!column.is_null(row)) std::invoke(field, fact) = FactId{column.uuid(row)};
    });
  }
  void hash(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      std::invoke(field, fact) = column.uuid(row);
    });
  }
  void milliseconds(const char*, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      std::invoke(field, fact) = std::chrono::milliseconds(column.uint64(row));
    });
  }
  void optional_interval(const char* begin, const char*, auto field) {
    const duckdb::Column from = rows_.column(next_++);
    each([&](const auto& to, auto row, Fact& fact) {
      if (from.is_null(row)) return;
      std::invoke(field, fact) = Interval::of(from.timestamp_ms(row), to.timestamp_ms(row));
      if (!std::invoke(field, fact)) failed_ = begin;
    });
  }
  void wide(const char* name, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      std::invoke(field, fact) = unsigned_of(name, column.hugeint(row));
    });
  }
  void quantity(const char* name, auto field) {
    each([&](const auto& column, auto row, Fact& fact) {
      std::invoke(field, fact) = std::remove_cvref_t<decltype(std::invoke(field, fact))>::of(
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

// Inserts one row by the names of its columns, so their order in the table does not matter.
//
//   TRY(RowInsert("runs").number("run_id", 7).add(record).execute(connection));
class RowInsert {
 public:
  explicit RowInsert(std::string table) : table_(std::move(table)) {}

  RowInsert& number(const char* name, std::uint64_t value) {
    return bind(name, [value](auto& to, auto at) { to.bind_uint64(at, value); });
  }
  RowInsert& flag(const char* name, bool value) {
    return bind(name, [value](auto& to, auto at) { to.bind_bool(at, value); });
  }
  RowInsert& text_value(const char* name, std::string value) {
    return bind(name, [value = std::move(value)](auto& to, auto at) { to.bind_text(at, value); });
  }
  // The columns that Table<Record> lists. `record` lives until execute().
  template <class Record>
  RowInsert& add(const Record& record) {
    Binder<Record> binder{*this, record};
    Table<Record>::list(binder);
    return *this;
  }
  Result<void> execute(duckdb::Connection& connection) const {
    std::string parameters;
    for (std::size_t i = 1; i <= binds_.size(); ++i) {
      parameters += (i == 1 ? "$" : ", $") + std::to_string(i);
    }
    duckdb::Statement insert = TRY(connection.prepare("INSERT INTO " + table_ + " (" + names_ +
                                                      ") VALUES (" + parameters + ")"));
    for (std::size_t i = 0; i < binds_.size(); ++i) binds_[i](insert, i + 1);
    return insert.execute();
  }

 private:
  using Bind = std::function<void(duckdb::Statement&, std::uint64_t)>;

  // Binds the fields of one record, as a visitor of Table<Record>.
  template <class Record>
  struct Binder {
    RowInsert& insert;
    const Record& record;

    void text(const char* name, auto field) {
      insert.bind(name, [&value = std::invoke(field, record)](auto& to, auto at) {
        to.bind_text(at, value);
      });
    }
    void id(const char* name, auto field) {
      insert.bind(name, [&value = std::invoke(field, record)](auto& to, auto at) {
        to.bind_text(at, value.text());
      });
    }
    void choice(const char* name, auto field, auto) {
      insert.bind(name, [&value = std::invoke(field, record)](auto& to, auto at) {
        to.bind_text(at, to_text(value));
      });
    }
    void boolean(const char* name, auto field) { insert.flag(name, std::invoke(field, record)); }
    void count(const char* name, auto field) { insert.number(name, std::invoke(field, record)); }
    void milliseconds(const char* name, auto field) {
      insert.number(name, static_cast<std::uint64_t>(std::invoke(field, record).count()));
    }
    void instant(const char* name, auto field) {
      insert.bind(name, [value = std::invoke(field, record)](auto& to, auto at) {
        to.bind_timestamp_ms(at, value);
      });
    }
    void hash(const char* name, auto field) {
      insert.bind(name, [&value = std::invoke(field, record)](auto& to, auto at) {
        to.bind_uuid(at, value);
      });
    }
    void optional_interval(const char* begin, const char* end, auto field) {
      const auto& value = std::invoke(field, record);
      const auto bind_end = [&](const char* name, auto of_interval) {
        insert.bind(name, [&value, of_interval](auto& to, auto at) {
          value ? to.bind_timestamp_ms(at, of_interval(*value)) : to.bind_null(at);
        });
      };
      bind_end(begin, [](const Interval& interval) { return interval.begin(); });
      bind_end(end, [](const Interval& interval) { return interval.end(); });
    }
  };

  RowInsert& bind(const char* name, Bind bind_value) {
    names_ += (names_.empty() ? "" : ", ") + std::string(name);
    binds_.push_back(std::move(bind_value));
    return *this;
  }

  std::string table_, names_;
  std::vector<Bind> binds_;
};

}  // namespace pennyweight::duckdb_io
