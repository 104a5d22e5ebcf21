#include "reporting/rollup/rollup.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include "core/check.h"
#include "core/duckdb/database.h"
#include "core/try.h"
#include "reporting/rollup/answer_cache.h"
#include "reporting/rollup/choose.h"
#include "reporting/rollup/fold.h"
#include "reporting/rollup/fold_rows.h"
#include "reporting/rollup/query_plan.h"
#include "reporting/rollup/rollup_file.h"
#include "reporting/rollup/workload_names.h"

namespace pennyweight::rollup {
namespace {

namespace fs = std::filesystem;
using duckdb::Connection;
using duckdb::Database;

constexpr std::uint64_t kAnswerBytesMax = std::uint64_t{64} << 20;
// For the state of the version that a reader sees: it follows its transaction at once. Where it
// does not come, the ledger answers.
constexpr int kStateWaitsMax = 1000;
constexpr std::chrono::milliseconds kStateWait{1};

// Whether a file can't be read, rather than not now.
bool is_damage(const Error& error) {
  if (error.code == ErrorCode::kBadFile) return true;
  for (const std::string_view sign :
       {"invalidated", "orrupt", "checksum", "INTERNAL Error", "FATAL Error", "erialization"}) {
    if (error.message.find(sign) != std::string::npos) return true;
  }
  return false;
}

// An open file: as many connections as may read at once, and one that writes.
struct OpenConnections {
  Database database;
  Connection writer;
  std::vector<Connection> readers;
};

class DuckdbRollup : public Rollup {
 public:
  explicit DuckdbRollup(const Options& options) : options_(options) {}
  Result<void> open_file();

  Result<bool> refresh(Store& store) override;
  Result<std::optional<std::vector<SummaryRow>>> summarise(const SummaryQuery& query) override;
  Result<std::optional<TopOwners>> owners(const SummaryQuery& query,
                                          const OwnersRequest& asked) override;
  Result<std::optional<RowPage>> page(const SummaryQuery& query, const PageRequest& asked) override;
  Result<std::vector<Value>> values_of(const SummaryQuery& query, const std::string& dimension,
                                       const std::string& prefix, std::size_t at_most) override;
  std::optional<std::uint64_t> version() const override;

 private:
  // A connection on loan.
  class Reader {
   public:
    explicit Reader(DuckdbRollup& of) : of_(of) {
      std::unique_lock lock(of_.readers_mutex_);
      of_.reader_is_free_.wait(lock, [&] { return !of_.free_readers_.empty(); });
      number_ = of_.free_readers_.back();
      of_.free_readers_.pop_back();
    }
    ~Reader() {
      {
        const std::lock_guard lock(of_.readers_mutex_);
        of_.free_readers_.push_back(number_);
      }
      of_.reader_is_free_.notify_one();
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    Connection& connection() { return of_.connections_->readers[number_]; }

   private:
    DuckdbRollup& of_;
    std::size_t number_ = 0;
  };

  Result<OpenConnections> open_database() const;
  Result<void> begin_anew(const char* ending);
  void publish(std::shared_ptr<const RollupState> state);
  std::shared_ptr<const RollupState> current() const;
  // What is asked of one state, over a connection that sees it. Nothing: it is not kept.
  using Ask = std::function<Result<std::optional<RollupAnswer>>(Connection&, const RollupState&)>;
  template <class Kind>
  Result<std::optional<Kind>> answer(const std::string& asked, const Ask& ask);
  Result<std::optional<RollupAnswer>> find(const std::string& asked, const Ask& ask);
  Result<std::optional<RollupAnswer>> read(Connection& connection, const std::string& asked,
                                           const Ask& ask);
  Result<std::shared_ptr<const RollupState>> state_of(Connection& connection, int& waits) const;
  Result<bool> follow(Store& store);
  Result<bool> copy_changes(Store& store);

  const Options options_;
  std::mutex refresh_mutex_;  // one refresh at a time
  std::shared_mutex
      connections_mutex_;  // guards connections_: held by all who read, alone to begin anew
  std::optional<OpenConnections> connections_;
  std::mutex readers_mutex_;  // guards free_readers_
  std::condition_variable reader_is_free_;
  std::vector<std::size_t> free_readers_;
  mutable std::mutex state_mutex_;  // guards state_
  std::shared_ptr<const RollupState> state_;
  std::atomic<std::uint64_t> version_ = 0;
  std::atomic<bool> damaged_ = false;
  std::atomic<bool> behind_ = false;  // the last refresh failed
  AnswerCache cache_{kAnswerBytesMax};
};

// Later than any version of a file that lay here before: versions count from when a file was made,
// in milliseconds, and grow by one with each change.
std::uint64_t first_version(const fs::path& path) {
  std::error_code code;
  const auto written = fs::last_write_time(path, code);
  const auto since = std::chrono::file_clock::to_sys(written).time_since_epoch();
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(1, std::chrono::floor<std::chrono::milliseconds>(since).count()));
}

Result<OpenConnections> DuckdbRollup::open_database() const {
  Database database = TRY(Database::open({.path = options_.path,
                                          .memory_bytes_max = options_.memory_bytes_max,
                                          .threads = options_.threads,
                                          .temp_directory = options_.path + ".tmp",
                                          .keeps_insertion_order = false}));
  Connection writer = TRY(database.connect());
  std::vector<Connection> readers;
  for (unsigned i = 0; i < std::max(options_.threads, 2u); ++i) {
    Connection reader = TRY(database.connect());
    readers.push_back(std::move(reader));
  }
  return OpenConnections{std::move(database), std::move(writer), std::move(readers)};
}

// REQUIRES: nobody reads.
Result<void> DuckdbRollup::begin_anew(const char* ending) {
  const std::uint64_t version = version_;
  connections_.reset();
  std::error_code code;
  const fs::path path(options_.path);
  if (ending == nullptr) {
    fs::remove(path, code);
  } else if (fs::exists(path, code)) {
    fs::rename(path, options_.path + ending, code);
  }
  if (code) return fail(ErrorCode::kIo, "cannot put the old file away: " + code.message());
  fs::remove(options_.path + ".wal", code);
  OpenConnections connections = TRY(open_database());
  const std::uint64_t first = std::max(first_version(path), version + 1);
  TRY(make_tables(connections.writer, first));
  auto state = load_state(connections.writer);
  if (!state) return std::unexpected(std::move(state.error()));
  connections_ = std::move(connections);
  publish(std::make_shared<const RollupState>(std::move(*state)));
  return {};
}

Result<void> DuckdbRollup::open_file() {
  for (unsigned i = 0; i < std::max(options_.threads, 2u); ++i) free_readers_.push_back(i);
  std::error_code code;
  const bool is_there = fs::exists(options_.path, code) && fs::file_size(options_.path, code) > 0;
  if (!is_there) return begin_anew(nullptr);
  Result<OpenConnections> connections = open_database();
  if (!connections) {
    if (duckdb::is_locked_by_another(connections.error()))
      return std::unexpected(connections.error());
    return begin_anew(".set-aside");
  }
  const Result<bool> ours = has_our_tables(connections->writer);
  if (!ours || !*ours) {
    connections = fail(ErrorCode::kBadFile, "closed before its file is moved");
    return begin_anew(".set-aside");
  }
  auto state = load_state(connections->writer);
  if (!state) {
    connections = fail(ErrorCode::kBadFile, "closed before its file is removed");
    return begin_anew(nullptr);
  }
  connections_ = std::move(*connections);
  publish(std::make_shared<const RollupState>(std::move(*state)));
  return {};
}

void DuckdbRollup::publish(std::shared_ptr<const RollupState> state) {
  const std::lock_guard lock(state_mutex_);
  version_ = state->version;
  state_ = std::move(state);
}

std::shared_ptr<const RollupState> DuckdbRollup::current() const {
  const std::lock_guard lock(state_mutex_);
  return state_;
}

std::optional<std::uint64_t> DuckdbRollup::version() const {
  if (damaged_ || behind_) return std::nullopt;
  const auto state = current();
  return state->complete ? std::optional(state->version) : std::nullopt;
}

Result<bool> DuckdbRollup::refresh(Store& store) {
  const std::lock_guard one(refresh_mutex_);
  Result<bool> changed = follow(store);
  behind_ = !changed;
  return changed;
}

Result<bool> DuckdbRollup::follow(Store& store) {
  if (damaged_) {
    const std::unique_lock alone(connections_mutex_);
    TRY(begin_anew(".set-aside"));
    damaged_ = false;
  }
  const std::shared_lock lock(connections_mutex_);
  if (!connections_) return fail(ErrorCode::kStore, "the rollup has no file");
  Result<bool> changed = copy_changes(store);
  if (changed) return changed;
  if (is_damage(changed.error())) damaged_ = true;
  // What was interrupted may have been committed, and then is what readers see.
  if (auto kept = load_state(connections_->writer)) {
    publish(std::make_shared<const RollupState>(*std::move(kept)));
  }
  return std::unexpected(
      changed.error().during("cannot bring the rollup up to date with the ledger"));
}

Result<bool> DuckdbRollup::copy_changes(Store& store) {
  const std::vector<Run> runs = TRY(store.runs());
  std::map<Scope, const Run*> wanted;
  for (const Run& run : runs) {
    if (run.current) wanted[run.scope] = &run;
  }
  bool changed = false;
  const auto change = [&](const auto& write) -> Result<void> {
    auto next = std::make_shared<RollupState>(*current());
    ScopeWriter writer(connections_->writer, *next);
    TRY(write(writer));
    publish(std::move(next));
    changed = true;
    return {};
  };
  const auto before = current();
  for (const RolledUpScope& kept : before->scopes) {
    if (wanted.contains(kept.scope)) continue;
    TRY(change([&](ScopeWriter& writer) { return writer.remove(kept.scope); }));
  }
  for (const auto& [scope, run] : wanted) {
    const auto kept = std::ranges::find(before->scopes, scope, &RolledUpScope::scope);
    if (kept != before->scopes.end() && kept->is_of(*run)) continue;
    TRY(change([&](ScopeWriter& writer) { return writer.replace(store, *run); }));
  }
  if (!current()->complete) {
    TRY(change([](ScopeWriter& writer) { return writer.set_complete(); }));
  }
  return changed;
}

// The state of the version that the connection's transaction sees.
Result<std::shared_ptr<const RollupState>> DuckdbRollup::state_of(Connection& connection,
                                                                  int& waits) const {
  duckdb::Rows rows = TRY(connection.query("SELECT version FROM kept"));
  const Result<bool> more = rows.next();
  if (!more) return std::unexpected(more.error());
  if (!*more) return fail(ErrorCode::kBadFile, "the rollup has no version");
  const std::uint64_t seen = rows.column(0).uint64(0);
  std::shared_ptr<const RollupState> state = current();
  // A change is published right after it is committed.
  for (; state->version < seen && waits > 0; --waits) {
    std::this_thread::sleep_for(kStateWait);
    state = current();
  }
  if (state->version != seen) return std::shared_ptr<const RollupState>();
  return state;
}

Result<std::optional<RollupAnswer>> DuckdbRollup::find(const std::string& asked, const Ask& ask) {
  if (damaged_) return std::nullopt;
  if (const CachedAnswer known = cache_.find(asked, version_)) return *known;
  const std::shared_lock lock(connections_mutex_);
  if (!connections_) return std::nullopt;
  Reader reader(*this);
  // Somebody else may have asked the same meanwhile.
  if (const CachedAnswer known = cache_.find(asked, version_)) return *known;
  Result<std::optional<RollupAnswer>> found = read(reader.connection(), asked, ask);
  if (!found && is_damage(found.error())) {
    damaged_ = true;  // the next refresh begins anew; till then the ledger answers
    return std::nullopt;
  }
  return found;
}

Result<std::optional<RollupAnswer>> DuckdbRollup::read(Connection& connection,
                                                       const std::string& asked, const Ask& ask) {
  for (int waits = kStateWaitsMax; waits > 0; --waits) {
    TRY(connection.execute("BEGIN TRANSACTION"));
    const auto state = state_of(connection, waits);
    Result<std::optional<RollupAnswer>> found = std::nullopt;
    if (!state) {
      found = std::unexpected(state.error());
    } else if (*state && (*state)->complete) {
      found = ask(connection, **state);
    }
    const Result<void> ended = connection.execute("ROLLBACK");
    if (!found) return found;
    if (!ended) return std::unexpected(ended.error());
    if (!*state) continue;  // a newer version was published before this one was read
    if (*found) cache_.keep(asked, (*state)->version, **found);
    return found;
  }
  return std::nullopt;
}

template <class Kind>
Result<std::optional<Kind>> DuckdbRollup::answer(const std::string& asked, const Ask& ask) {
  Result<std::optional<RollupAnswer>> found = find(asked, ask);
  if (!found) return std::unexpected(found.error().during("cannot ask the rollup"));
  if (!*found) return std::nullopt;
  CHECK(std::holds_alternative<Kind>(**found), "questions of two kinds do not look alike");
  return std::get<Kind>(**std::move(found));
}

std::string list_of(const auto& numbers) {
  std::string list;
  for (const Number number : numbers) list += (list.empty() ? "" : ", ") + std::to_string(number);
  return list;
}

// The conditions of a plan that its tables can check.
Result<std::string> conditions_of(const QueryPlan& plan, Connection& connection) {
  std::string where;
  if (!plan.all_scopes) where += " AND scope IN (" + list_of(plan.scopes) + ")";
  for (const SummaryFilter& filter : plan.workload_filters) {
    const auto ids = workloads_named(connection, filter.values);
    if (!ids) return std::unexpected(ids.error());
    if (!ids->empty()) {
      where += std::string(" AND workload ") + (filter.negate ? "NOT IN (" : "IN (") +
               list_of(*ids) + ")";
    } else if (!filter.negate) {
      where += " AND false";
    }
  }
  return where;
}

// Nothing where it is too wide.
Result<std::optional<Fold>> fold_up(Connection& connection, const QueryPlan& plan,
                                    SumSelection wanted) {
  Fold fold(plan, std::move(wanted));
  if (fold.is_too_wide()) return std::nullopt;
  const auto conditions = TRY(conditions_of(plan, connection));
  for (const GrainScan& scan : plan.scans) {
    std::string sql = "SELECT " + fold.columns(scan) + " FROM " + scan.grain->table +
                      " WHERE t >= " + std::to_string(scan.first) +
                      " AND t <= " + std::to_string(scan.last) + conditions;
    if (scan.grain->has_value) {
      sql += " AND dimension = " + std::to_string(*plan.dimension);
    }
    duckdb::Rows rows = TRY(connection.query(sql));
    while (true) {
      const Result<bool> more = rows.next();
      if (!more) return std::unexpected(more.error());
      if (!*more) break;
      fold.add(scan, rows);
    }
  }
  return fold;
}

Result<std::optional<std::vector<SummaryRow>>> DuckdbRollup::summarise(const SummaryQuery& query) {
  return answer<std::vector<SummaryRow>>(
      fingerprint(query),
      [&](Connection& connection, const RollupState& state) -> Result<std::optional<RollupAnswer>> {
        const std::optional<QueryPlan> plan = QueryPlan::of(state, query);
        if (!plan) return std::nullopt;
        const auto fold = fold_up(connection, *plan, every_sum());
        if (!fold) return std::unexpected(fold.error());
        if (!*fold) return std::nullopt;
        Numbers groups = all_of(**fold);
        const auto names = TRY(WorkloadNames::load(connection, workloads_of(**fold, groups)));
        RowOrder(**fold).sort(names, groups);
        return rows_of(**fold, names, groups);
      });
}

Result<std::optional<TopOwners>> DuckdbRollup::owners(const SummaryQuery& query,
                                                      const OwnersRequest& asked) {
  CHECK(asked.count > 0 && !asked.costs.empty(), "some owners, in the order of a cost");
  return answer<TopOwners>(
      fingerprint(query, asked),
      [&](Connection& connection, const RollupState& state) -> Result<std::optional<RollupAnswer>> {
        const auto plan = QueryPlan::of(state, query, OwnerKinds::kMergedByOwner);
        if (!plan) return std::nullopt;
        const auto fold = fold_up(connection, *plan, sums_for(asked));
        if (!fold) return std::unexpected(fold.error());
        if (!*fold) return std::nullopt;
        return choose_owners(**fold, asked, connection);
      });
}

Result<std::optional<RowPage>> DuckdbRollup::page(const SummaryQuery& query,
                                                  const PageRequest& asked) {
  const bool is_whole = asked.all_or_none && asked.order == PageRequest::Order::kKey;
  CHECK(
      asked.count > 0 && !query.group_by.empty() && (query.bucket == TimeBucket::kNone || is_whole),
      "some rows, of a list");
  return answer<RowPage>(
      fingerprint(query, asked),
      [&](Connection& connection, const RollupState& state) -> Result<std::optional<RollupAnswer>> {
        const std::optional<QueryPlan> plan = QueryPlan::of(state, query);
        if (!plan) return std::nullopt;
        const auto fold = fold_up(connection, *plan, sums_for(asked));
        if (!fold) return std::unexpected(fold.error());
        if (!*fold) return std::nullopt;
        return choose_page(**fold, asked, connection);
      });
}

Result<std::vector<Rollup::Value>> DuckdbRollup::values_of(const SummaryQuery& query,
                                                           const std::string& dimension,
                                                           const std::string& prefix,
                                                           std::size_t at_most) {
  SummaryQuery by_value = query;
  by_value.bucket = TimeBucket::kNone;
  by_value.group_by = {dimension};
  auto found = page(by_value, {.prefix = prefix, .count = std::max<std::size_t>(at_most, 1)});
  if (!found) return std::unexpected(found.error());
  std::vector<Value> values;
  if (!*found) return values;
  for (SummaryRow& row : (*found)->rows) {
    if (values.size() < at_most) {
      values.push_back({std::move(row.keys[0]), row.costs.effective});
    }
  }
  return values;
}

}  // namespace

Result<std::optional<TopOwners>> Rollup::owners(const SummaryQuery&, const OwnersRequest&) {
  return std::nullopt;
}

Result<std::optional<RowPage>> Rollup::page(const SummaryQuery&, const PageRequest&) {
  return std::nullopt;
}

Result<std::unique_ptr<Rollup>> Rollup::open(const Options& options) {
  auto rollup = std::make_unique<DuckdbRollup>(options);
  if (Result<void> connections = rollup->open_file(); !connections) {
    return std::unexpected(connections.error().during("cannot open the rollup " + options.path));
  }
  return rollup;
}

}  // namespace pennyweight::rollup
