#include "reporting/rollup/rollup_file.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/check.h"
#include "core/duckdb/appender.h"
#include "core/try.h"
#include "ledger/posting.h"

namespace pennyweight::rollup {
namespace {

using duckdb::Appender;
using duckdb::Connection;

constexpr const char* kMark = "pennyweight rollup 1";

std::string sum_columns(const char* before, const char* after) {
  std::string columns;
  for (const char* sum : kSums) columns += std::string(", ") + before + sum + after;
  return columns;
}
std::string summed() {
  std::string columns;
  for (const char* sum : kSums) {
    columns += std::string(", sum(") + sum + ")::HUGEINT AS " + sum;
  }
  return columns + ", sum(postings)::UBIGINT AS postings";
}

std::string grain_columns(const Grain& grain) {
  std::string columns = "scope UINTEGER, t INTEGER, facet UINTEGER";
  if (grain.has_place) columns += ", place UINTEGER";
  if (grain.has_workload) columns += ", workload UINTEGER";
  if (grain.has_sets) columns += ", set_id UINTEGER";
  if (grain.has_value) columns += ", dimension UINTEGER, value UINTEGER";
  return columns + sum_columns("", " HUGEINT") + ", postings UBIGINT";
}

// Visits each row of a result.
Result<void> each_row(Result<duckdb::Rows> rows,
                      const std::function<void(const duckdb::Rows&, std::uint64_t)>& visit) {
  if (!rows) return std::unexpected(std::move(rows.error()));
  while (true) {
    const Result<bool> more = rows->next();
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
    for (std::uint64_t row = 0; row < rows->size(); ++row) visit(*rows, row);
  }
}

// Appends rows [from, to) by set(appender, row of the chunk, number).
Result<void> append_rows(Connection& connection, const std::string& catalog,
                         const std::string& table, std::size_t from, std::size_t to,
                         const std::function<void(Appender&, std::uint64_t, std::size_t)>& set) {
  if (from == to) return {};
  Appender appender = TRY(Appender::open(connection, catalog, table));
  while (from < to) {
    const std::size_t count = std::min<std::size_t>(Appender::kChunkRows, to - from);
    for (std::size_t row = 0; row < count; ++row) set(appender, row, from + row);
    TRY(appender.append(count));
    from += count;
  }
  return appender.close();
}

// The dimensions of what is copied, in the order of a row's keys: facets, places, workload.
const std::vector<std::string>& copied_dimensions() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> all(kFacetDimensions.begin(), kFacetDimensions.end());
    all.insert(all.end(), kPlaceDimensions.begin(), kPlaceDimensions.end());
    all.emplace_back("workload");
    return all;
  }();
  return kAll;
}

// Rows of sums on their way into the table `fresh`.
class FreshRows {
 public:
  FreshRows(Appender appender, Dictionary& names,
            const std::unordered_map<std::string, Number>& set_of_workload)
      : appender_(std::move(appender)), names_(names), set_of_workload_(set_of_workload) {}

  Result<void> add(const SummaryRow& row);
  Result<void> close();

  const std::vector<std::string>& workloads() const { return workloads_.all(); }
  std::int32_t first_day = 0, last_day = -1;

 private:
  Appender appender_;
  Dictionary& names_;
  const std::unordered_map<std::string, Number>& set_of_workload_;
  InternTable<std::string, HashText> workloads_;
  std::vector<duckdb::ColumnWriter> columns_;
  std::uint64_t count_ = 0;
};

Result<void> FreshRows::add(const SummaryRow& row) {
  Facet facet{};
  Location place{};
  for (std::size_t i = 0; i < facet.size(); ++i) {
    facet[i] = names_.texts.number_of(std::string_view(row.keys[i]));
  }
  for (std::size_t i = 0; i < place.size(); ++i) {
    place[i] = names_.texts.number_of(std::string_view(row.keys[facet.size() + i]));
  }
  const std::string& workload = row.keys.back();
  const auto set = set_of_workload_.find(workload);
  const auto day = static_cast<std::int32_t>(row.bucket->time_since_epoch().count());
  const bool is_first = first_day > last_day;
  first_day = is_first ? day : std::min(first_day, day);
  last_day = is_first ? day : std::max(last_day, day);
  if (columns_.empty()) {
    for (std::uint64_t i = 0; i < appender_.column_count(); ++i) {
      columns_.push_back(appender_.column(i));
    }
  }
  columns_[0].set_int64(count_, day);
  // Its lean facet comes first, so that it has a number wherever it is asked for.
  names_.facets.number_of(lean(facet));
  columns_[1].set_uint32(count_, names_.facets.number_of(facet));
  columns_[2].set_uint32(count_, names_.places.number_of(place));
  columns_[3].set_uint32(count_, workloads_.number_of(std::string_view(workload)));
  columns_[4].set_uint32(count_, set == set_of_workload_.end() ? 0 : set->second);
  const Int128 effective = row.costs.effective.ticks();
  const Money* others[] = {&row.costs.billed, &row.costs.list, &row.costs.contracted};
  columns_[5].set_hugeint(count_, effective);
  for (std::size_t i = 0; i < std::size(others); ++i) {
    Int128 more = 0;
    if (__builtin_sub_overflow(others[i]->ticks(), effective, &more)) {
      return fail(ErrorCode::kLimit, "the four costs of a bill are too far apart to be stored");
    }
    columns_[6 + i].set_hugeint(count_, more);
  }
  const auto amount = [&](std::uint64_t column, UInt128 value) {
    columns_[column].set_hugeint(count_, static_cast<Int128>(value));
  };
  amount(9, row.gpu_time.count());
  amount(10, row.idle_time.count());
  amount(11, row.memory_time.count());
  amount(12, row.observed_time.count());
  columns_[13].set_uint64(count_, row.postings);
  if (++count_ < Appender::kChunkRows) return {};
  columns_.clear();
  return appender_.append(std::exchange(count_, 0));
}

Result<void> FreshRows::close() {
  columns_.clear();
  if (count_ > 0) {
    TRY(appender_.append(std::exchange(count_, 0)));
  }
  return appender_.close();
}

}  // namespace

Result<void> make_tables(Connection& connection, std::uint64_t version) {
  std::string sql =
      "BEGIN;"
      "CREATE TABLE kept (mark VARCHAR, version UBIGINT, complete BOOLEAN);"
      "CREATE TABLE scopes (scope UINTEGER, cluster VARCHAR, month VARCHAR, run UBIGINT, "
      "postings_digest UUID, policy_version UUID, postings UBIGINT, made_at TIMESTAMP_MS, "
      "first_day BIGINT, last_day BIGINT);"
      "CREATE TABLE grain_rows (grain VARCHAR, row_count UBIGINT);"
      "CREATE TABLE texts (id UINTEGER, name VARCHAR);"
      "CREATE TABLE places (id UINTEGER, node UINTEGER, gpu UINTEGER, resource UINTEGER);"
      "CREATE TABLE sets (id UINTEGER, dimension UINTEGER, value UINTEGER);"
      "CREATE TABLE dimensions (dimension UINTEGER);"
      "CREATE TABLE workloads (id UINTEGER, name VARCHAR);"
      "INSERT INTO workloads VALUES (0, '');"
      "CREATE TABLE facets (id UINTEGER, lean UINTEGER";
  for (const char* dimension : kFacetDimensions) sql += std::string(", ") + dimension + " UINTEGER";
  sql +=
      "); INSERT INTO texts VALUES (0, ''); INSERT INTO places VALUES (0, 0, 0, 0); "
      "INSERT INTO facets VALUES (0, 0";
  for (std::size_t i = 0; i < kFacetDimensions.size(); ++i) sql += ", 0";
  sql += ");";
  for (const Grain& grain : kGrains) {
    sql += std::string("CREATE TABLE ") + grain.table + " (" + grain_columns(grain) + ");";
  }
  return connection.execute(sql + "INSERT INTO kept VALUES ('" + kMark + "', " +
                            std::to_string(version) + ", false); COMMIT");
}

Result<bool> has_our_tables(Connection& connection) {
  bool ours = false;
  TRY(each_row(connection.query("SELECT count(*)::UBIGINT FROM duckdb_tables() WHERE table_name IN "
                                "('kept', 'scopes', 'all_day')"),
               [&](const duckdb::Rows& rows, std::uint64_t row) {
                 ours = rows.column(0).uint64(row) == 3;
               }));
  if (!ours) return false;
  TRY(each_row(connection.query("SELECT mark FROM kept"),
               [&](const duckdb::Rows& rows, std::uint64_t row) {
                 ours = rows.column(0).text(row) == kMark;
               }));
  return ours;
}

Result<RollupState> load_state(Connection& connection) {
  RollupState state;
  Dictionary& names = state.names;
  Result<void> done = each_row(connection.query("SELECT version, complete FROM kept"),
                               [&](const duckdb::Rows& rows, std::uint64_t row) {
                                 state.version = rows.column(0).uint64(row);
                                 state.complete = rows.column(1).boolean(row);
                               });
  const auto read = [&](const std::string& sql,
                        const std::function<void(const duckdb::Rows&, std::uint64_t)>& visit) {
    if (done) done = each_row(connection.query(sql), visit);
  };
  const auto number = [](const duckdb::Rows& rows, std::uint64_t column, std::uint64_t row) {
    return rows.column(column).uint32(row);
  };
  read(
      "SELECT scope, cluster, month, run, postings_digest, policy_version, postings, made_at, "
      "first_day, last_day FROM scopes ORDER BY scope",
      [&](const duckdb::Rows& rows, std::uint64_t row) {
        const auto text = [&](std::uint64_t column) {
          return std::string(rows.column(column).text(row));
        };
        state.scopes.push_back({.number = number(rows, 0, row),
                                .scope = {ClusterId(text(1)), text(2)},
                                .run = rows.column(3).uint64(row),
                                .postings_digest = rows.column(4).uuid(row),
                                .policy_version = rows.column(5).uuid(row),
                                .postings = rows.column(6).uint64(row),
                                .made_at = rows.column(7).timestamp_ms(row),
                                .first_day = static_cast<std::int32_t>(rows.column(8).int64(row)),
                                .last_day = static_cast<std::int32_t>(rows.column(9).int64(row))});
      });
  bool whole = true;
  const auto is_next = [&](Number given, Number expected) { whole &= given == expected; };
  read("SELECT id, name FROM texts ORDER BY id", [&](const duckdb::Rows& rows, std::uint64_t row) {
    is_next(names.texts.number_of(rows.column(1).text(row)), number(rows, 0, row));
  });
  std::string facet_columns = "SELECT id";
  for (const char* dimension : kFacetDimensions) facet_columns += std::string(", ") + dimension;
  read(facet_columns + " FROM facets ORDER BY id",
       [&](const duckdb::Rows& rows, std::uint64_t row) {
         Facet facet{};
         for (std::size_t i = 0; i < facet.size(); ++i) facet[i] = number(rows, 1 + i, row);
         is_next(names.facets.number_of(facet), number(rows, 0, row));
       });
  read("SELECT id, node, gpu, resource FROM places ORDER BY id",
       [&](const duckdb::Rows& rows, std::uint64_t row) {
         const Location place = {number(rows, 1, row), number(rows, 2, row), number(rows, 3, row)};
         is_next(names.places.number_of(place), number(rows, 0, row));
       });
  Number set_id = 0;
  LabelSet set;
  const auto end_set = [&] {
    if (!set.empty()) is_next(names.sets.number_of(std::exchange(set, {})), set_id);
  };
  read("SELECT id, dimension, value FROM sets ORDER BY id, dimension",
       [&](const duckdb::Rows& rows, std::uint64_t row) {
         if (number(rows, 0, row) != set_id) end_set();
         set_id = number(rows, 0, row);
         set.emplace_back(number(rows, 1, row), number(rows, 2, row));
       });
  end_set();
  read("SELECT dimension FROM dimensions", [&](const duckdb::Rows& rows, std::uint64_t row) {
    names.dimensions.push_back(number(rows, 0, row));
  });
  read("SELECT grain, row_count FROM grain_rows", [&](const duckdb::Rows& rows, std::uint64_t row) {
    for (std::size_t i = 0; i < kGrains.size(); ++i) {
      if (rows.column(0).text(row) == kGrains[i].table) {
        state.rows[i] = rows.column(1).uint64(row);
      }
    }
  });
  if (!done) return std::unexpected(done.error());
  if (!whole || state.version == 0) {
    return fail(ErrorCode::kBadFile, "its numbers stand for nothing");
  }
  return state;
}

Result<void> ScopeWriter::begin() {
  const Dictionary& names = state_.names;
  texts_ = names.texts.all().size();
  facets_ = names.facets.all().size();
  places_ = names.places.all().size();
  sets_ = names.sets.all().size();
  dimensions_ = names.dimensions.size();
  return connection_.execute("BEGIN TRANSACTION");
}

Result<void> ScopeWriter::commit() {
  if (auto done =
          connection_.execute("UPDATE kept SET version = " + std::to_string(++state_.version) +
                              ", complete = " + (state_.complete ? "true" : "false"));
      !done) {
    return done;
  }
  return connection_.execute("COMMIT");
}

Result<void> ScopeWriter::abandon(Result<void> failed) {
  // Where the transaction is gone already, so is what it did.
  [[maybe_unused]] const Result<void> undone = connection_.execute("ROLLBACK");
  return failed;
}

Result<void> ScopeWriter::replace(Store& store, const Run& run) {
  TRY(begin());
  Result<void> done = write_scope(store, run);
  if (done) done = commit();
  return done ? done : abandon(std::move(done));
}

Result<void> ScopeWriter::remove(const Scope& scope) {
  TRY(begin());
  const auto kept = std::ranges::find(state_.scopes, scope, &RolledUpScope::scope);
  CHECK(kept != state_.scopes.end(), "only what is there is removed");
  const Number number = kept->number;
  state_.scopes.erase(kept);
  Result<void> done = drop_rows(number);
  if (done) done = write_scopes();
  if (done) done = count_rows();
  if (done) done = commit();
  return done ? done : abandon(std::move(done));
}

Result<void> ScopeWriter::set_complete() {
  TRY(begin());
  state_.complete = true;
  Result<void> done = commit();
  return done ? done : abandon(std::move(done));
}

Result<void> ScopeWriter::drop_rows(Number scope) {
  std::string sql;
  for (const Grain& grain : kGrains) {
    sql +=
        std::string("DELETE FROM ") + grain.table + " WHERE scope = " + std::to_string(scope) + ";";
  }
  return connection_.execute(sql);
}

Result<void> ScopeWriter::write_scope(Store& store, const Run& run) {
  auto kept = std::ranges::find(state_.scopes, run.scope, &RolledUpScope::scope);
  const bool is_new = kept == state_.scopes.end();
  if (is_new) {
    Number next = 1;
    for (const RolledUpScope& other : state_.scopes) next = std::max(next, other.number + 1);
    state_.scopes.push_back({.number = next, .scope = run.scope});
    kept = state_.scopes.end() - 1;
  }
  Result<void> done = is_new ? Result<void>() : drop_rows(kept->number);
  if (done) done = copy_sums(store, run);
  if (done) done = write_names();
  if (done) done = write_grains(kept->number);
  if (done) done = add_dimensions(kept->number);
  kept->run = run.number;
  kept->postings_digest = run.postings_digest;
  kept->policy_version = run.policy_version;
  kept->postings = run.postings;
  kept->made_at = run.at;
  kept->first_day = first_day_;
  kept->last_day = last_day_;
  if (done) done = write_scopes();
  if (done) done = count_rows();
  return done;
}

Result<void> ScopeWriter::copy_sums(Store& store, const Run& run) {
  Dictionary& names = state_.names;
  const std::vector<WorkloadDimensions> dimensions = TRY(store.dimensions_of(run.scope));
  std::unordered_map<std::string, Number> set_of_workload;
  std::set<Number> known(names.dimensions.begin(), names.dimensions.end());
  for (const WorkloadDimensions& workload : dimensions) {
    LabelSet set;
    for (const auto& [name, value] : workload.dimensions.entries()) {
      set.emplace_back(names.texts.number_of(std::string_view(name)),
                       names.texts.number_of(std::string_view(value)));
      if (known.insert(set.back().first).second) names.dimensions.push_back(set.back().first);
    }
    std::ranges::sort(set);
    set_of_workload[workload.workload.text()] = names.sets.number_of(set);
  }
  TRY(connection_.execute(
      "CREATE OR REPLACE TEMP TABLE fresh (t BIGINT, facet UINTEGER, place UINTEGER, "
      "local UINTEGER, set_id UINTEGER" +
      sum_columns("", " HUGEINT") +
      ", postings UBIGINT); CREATE OR REPLACE TEMP TABLE fresh_workloads (local UINTEGER, "
      "name VARCHAR)"));
  Appender appender = TRY(Appender::open(connection_, "temp", "fresh"));
  FreshRows fresh(std::move(appender), names, set_of_workload);
  Result<void> appended;
  TRY(store.scan_summary(
      {.bucket = TimeBucket::kDay,
       .group_by = copied_dimensions(),
       .filters = {{"cluster", {run.scope.cluster.text()}}, {"month", {run.scope.month}}}},
      [&](std::span<const SummaryRow> rows) {
        for (const SummaryRow& row : rows) {
          appended = fresh.add(row);
          if (!appended) return false;
        }
        return true;
      }));
  if (appended) appended = fresh.close();
  if (!appended) return appended;
  first_day_ = fresh.first_day;
  last_day_ = fresh.last_day;
  const std::vector<std::string>& workloads = fresh.workloads();
  return append_rows(connection_, "temp", "fresh_workloads", 0, workloads.size(),
                     [&](Appender& into, std::uint64_t row, std::size_t i) {
                       into.column(0).set_uint32(row, static_cast<Number>(i));
                       into.column(1).set_text(row, workloads[i]);
                     });
}

Result<void> ScopeWriter::write_names() {
  const Dictionary& names = state_.names;
  const auto number = [](std::size_t i) { return static_cast<Number>(i); };
  Result<void> done = append_rows(connection_, "", "texts", texts_, names.texts.all().size(),
                                  [&](Appender& into, std::uint64_t row, std::size_t i) {
                                    into.column(0).set_uint32(row, number(i));
                                    into.column(1).set_text(row, names.texts.all()[i]);
                                  });
  if (!done) return done;
  done = append_rows(connection_, "", "facets", facets_, names.facets.all().size(),
                     [&](Appender& into, std::uint64_t row, std::size_t i) {
                       const Facet& facet = names.facets.all()[i];
                       into.column(0).set_uint32(row, number(i));
                       into.column(1).set_uint32(row, *names.facets.find(lean(facet)));
                       for (std::size_t at = 0; at < facet.size(); ++at) {
                         into.column(2 + at).set_uint32(row, facet[at]);
                       }
                     });
  if (!done) return done;
  done = append_rows(connection_, "", "places", places_, names.places.all().size(),
                     [&](Appender& into, std::uint64_t row, std::size_t i) {
                       const Location& place = names.places.all()[i];
                       into.column(0).set_uint32(row, number(i));
                       for (std::size_t at = 0; at < place.size(); ++at) {
                         into.column(1 + at).set_uint32(row, place[at]);
                       }
                     });
  if (!done) return done;
  std::vector<std::array<Number, 3>> entries;
  for (std::size_t i = sets_; i < names.sets.all().size(); ++i) {
    for (const auto& [dimension, value] : names.sets.all()[i]) {
      entries.push_back({number(i), dimension, value});
    }
  }
  done = append_rows(connection_, "", "sets", 0, entries.size(),
                     [&](Appender& into, std::uint64_t row, std::size_t i) {
                       for (std::size_t at = 0; at < 3; ++at) {
                         into.column(at).set_uint32(row, entries[i][at]);
                       }
                     });
  if (!done) return done;
  return append_rows(connection_, "", "dimensions", dimensions_, names.dimensions.size(),
                     [&](Appender& into, std::uint64_t row, std::size_t i) {
                       into.column(0).set_uint32(row, names.dimensions[i]);
                     });
}

Result<void> ScopeWriter::write_grains(Number scope) {
  const std::string begin = " SELECT " + std::to_string(scope) + "::UINTEGER AS scope, ";
  const std::string month =
      "((year(DATE '1970-01-01' + t) - 1970) * 12 + "
      "month(DATE '1970-01-01' + t) - 1)::INTEGER AS t";
  const std::string of_scope = " WHERE a.scope = " + std::to_string(scope);
  const std::string sums = summed();
  std::string sql =
      "INSERT INTO workloads SELECT (row_number() OVER () - 1 + (SELECT count(*) FROM "
      "workloads))::UINTEGER, name FROM fresh_workloads f WHERE NOT EXISTS (SELECT 1 FROM "
      "workloads w WHERE w.name = f.name);"
      "INSERT INTO all_day BY NAME" +
      begin + "f.t::INTEGER AS t, f.facet, f.place, w.id AS workload, f.set_id" +
      sum_columns("f.", "") +
      ", f.postings FROM fresh f JOIN fresh_workloads n USING (local) JOIN workloads w ON w.name = "
      "n.name ORDER BY t, facet;"
      "INSERT INTO all_month BY NAME SELECT a.scope, " +
      month + ", facet, place, workload, set_id" + sums + " FROM all_day a" + of_scope +
      " GROUP BY ALL;";
  for (const char* time : {"day", "month"}) {
    const std::string name = time;
    const std::string from = " FROM all_" + name + " a";
    sql += "INSERT INTO facet_" + name + " BY NAME SELECT a.scope, t, facet" + sums + from +
           of_scope + " GROUP BY ALL ORDER BY t;" + "INSERT INTO place_" + name +
           " BY NAME SELECT a.scope, t, facet, place" + sums + from + of_scope +
           " GROUP BY ALL ORDER BY t;";
    // Every set has a value of every dimension, be it "".
    sql += "INSERT INTO value_" + name +
           " BY NAME SELECT a.scope, t, lean AS facet, d.dimension, "
           "coalesce(s.value, 0)::UINTEGER AS value" +
           sums + " FROM (SELECT a.scope, t, f.lean, a.set_id" + sums + from +
           " JOIN facets f ON f.id = a.facet" + of_scope +
           " GROUP BY ALL) a CROSS JOIN dimensions d LEFT JOIN sets s ON s.id = a.set_id AND "
           "s.dimension = d.dimension GROUP BY ALL ORDER BY d.dimension, t;";
  }
  sql += "INSERT INTO set_month BY NAME SELECT a.scope, t, f.lean AS facet, set_id" + sums +
         " FROM all_month a JOIN facets f ON f.id = a.facet" + of_scope +
         " GROUP BY ALL ORDER BY t; DROP TABLE fresh; DROP TABLE fresh_workloads";
  return connection_.execute(sql);
}

// In the scopes that were there before, nobody has a value of a dimension that is new.
Result<void> ScopeWriter::add_dimensions(Number scope) {
  std::string sql;
  for (std::size_t i = dimensions_; i < state_.names.dimensions.size(); ++i) {
    for (const char* time : {"day", "month"}) {
      sql += std::string("INSERT INTO value_") + time +
             " BY NAME SELECT a.scope, t, f.lean AS facet, " +
             std::to_string(state_.names.dimensions[i]) +
             "::UINTEGER AS dimension, 0::UINTEGER AS value" + summed() + " FROM facet_" + time +
             " a JOIN facets f ON f.id = a.facet WHERE a.scope <> " + std::to_string(scope) +
             " GROUP BY ALL ORDER BY t;";
    }
  }
  return sql.empty() ? Result<void>() : connection_.execute(sql);
}

Result<void> ScopeWriter::write_scopes() {
  TRY(connection_.execute("DELETE FROM scopes"));
  return append_rows(connection_, "", "scopes", 0, state_.scopes.size(),
                     [&](Appender& into, std::uint64_t row, std::size_t i) {
                       const RolledUpScope& kept = state_.scopes[i];
                       into.column(0).set_uint32(row, kept.number);
                       into.column(1).set_text(row, kept.scope.cluster.text());
                       into.column(2).set_text(row, kept.scope.month);
                       into.column(3).set_uint64(row, kept.run);
                       into.column(4).set_uuid(row, kept.postings_digest);
                       into.column(5).set_uuid(row, kept.policy_version);
                       into.column(6).set_uint64(row, kept.postings);
                       into.column(7).set_timestamp_ms(row, kept.made_at);
                       into.column(8).set_int64(row, kept.first_day);
                       into.column(9).set_int64(row, kept.last_day);
                     });
}

Result<void> ScopeWriter::count_rows() {
  std::string sql = "DELETE FROM grain_rows; INSERT INTO grain_rows ";
  for (std::size_t i = 0; i < kGrains.size(); ++i) {
    sql += std::string(i == 0 ? "" : " UNION ALL ") + "SELECT '" + kGrains[i].table +
           "', count(*)::UBIGINT FROM " + kGrains[i].table;
  }
  TRY(connection_.execute(sql));
  return each_row(connection_.query("SELECT grain, row_count FROM grain_rows"),
                  [&](const duckdb::Rows& rows, std::uint64_t row) {
                    for (std::size_t i = 0; i < kGrains.size(); ++i) {
                      if (rows.column(0).text(row) == kGrains[i].table) {
                        state_.rows[i] = rows.column(1).uint64(row);
                      }
                    }
                  });
}

}  // namespace pennyweight::rollup
