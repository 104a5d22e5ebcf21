// allocate: makes a run for each cluster and month of the bill.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <thread>

#include "app/audit_events/audit_events.h"
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "app/context/catalog_file.h"
#include "app/run/allocate_month.h"
#include "core/try.h"
#include "ledger/store_rules.h"

namespace pennyweight {
namespace {

struct AllocateOptions {
  std::string month;
  std::string from;
  std::string to;
  std::string changed;
  std::optional<unsigned> threads;
  TableOptions table;
};

Result<std::vector<std::string>> select_months(const AllocateOptions& options,
                                               const std::vector<std::string>& known) {
  for (const std::string* text : {&options.month, &options.from, &options.to}) {
    if (text->empty()) continue;
    if (const auto month = check_month(*text); !month) return as_usage_error(month.error());
  }
  // "2026-03" sorts as time does.
  std::vector<std::string> months;
  for (const std::string& month : known) {
    if (!options.month.empty() && month != options.month) continue;
    if (!options.from.empty() && month < options.from) continue;
    if (!options.to.empty() && month > options.to) continue;
    months.push_back(month);
  }
  return months;
}

// "2026-03-05T10:00:00Z..2026-03-05T11:00:00Z".
Result<std::optional<Interval>> parse_changed(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) {
    return usage_error(
        "--changed: write the interval as 2026-03-05T10:00:00Z..2026-03-05T11:00:00Z");
  }
  const auto from = parse_instant(std::string_view(text).substr(0, dots));
  if (!from) return usage_error("--changed: " + from.error().message);
  const auto to = parse_instant(std::string_view(text).substr(dots + 2));
  if (!to) return usage_error("--changed: " + to.error().message);
  const auto changed = Interval::of(*from, *to);
  if (!changed) return usage_error("--changed: the interval ends before it begins");
  return changed;
}

struct KindColumn {
  PostingKind kind;
  const char* name;
  const char* title;
  bool always;  // false: shown only if a run has any of it
};
constexpr KindColumn kKindColumns[] = {
    {PostingKind::kUsed, "held", "held", true},
    {PostingKind::kHeldIdle, "held_idle", "held idle", false},
    {PostingKind::kUnallocated, "unallocated", "unallocated", true},
    {PostingKind::kStranded, "stranded", "stranded", false},
    {PostingKind::kOverhead, "overhead", "overhead", false},
    {PostingKind::kUnavailable, "unavailable", "unavailable", false},
    {PostingKind::kShared, "shared", "shared", true},
};

// Which optional columns all tables show, whatever their currency.
struct OptionalColumns {
  std::vector<KindColumn> kinds;
  bool moved = false;
  bool coverage = false;
};

OptionalColumns used_columns(const std::vector<AllocatedScope>& all) {
  OptionalColumns shape;
  for (const KindColumn& column : kKindColumns) {
    const bool is_there = std::ranges::any_of(all, [&](const AllocatedScope& scope) {
      return std::ranges::any_of(
          scope.effective, [&](const auto& entry) { return entry.second.contains(column.kind); });
    });
    if (column.always || is_there) shape.kinds.push_back(column);
  }
  for (const AllocatedScope& scope : all) {
    shape.moved = shape.moved || !scope.moved.empty();
    shape.coverage = shape.coverage || scope.observed_time != GpuTime();
  }
  return shape;
}

Table table_in(Currency currency, const OptionalColumns& shape) {
  Table table;
  table.title = fmt::format("Allocated, effective cost in {}", currency.text());
  table.currency = currency;
  table.columns = {{"month", "month", ColumnKind::kText},
                   {"cluster", "cluster", ColumnKind::kText},
                   {"lines", "bill lines", ColumnKind::kCount},
                   {"postings", "postings", ColumnKind::kCount}};
  for (const KindColumn& column : shape.kinds) {
    table.columns.push_back({column.name, column.title, ColumnKind::kMoney});
  }
  if (shape.moved) table.columns.push_back({"moved", "moved to owners", ColumnKind::kMoney});
  if (shape.coverage) table.columns.push_back({"observed", "observed", ColumnKind::kPercent});
  table.columns.push_back({"run", "run", ColumnKind::kText});
  return table;
}

Row run_row(const AllocatedScope& done, Currency currency, const OptionalColumns& shape) {
  const auto amount = [&](const auto& amounts, const auto& key) {
    const auto found = amounts.find(key);
    return found == amounts.end() ? Money::zero(currency) : found->second;
  };
  const std::string cluster = done.run.scope.cluster.text();
  Row row = {done.run.scope.month, cluster.empty() ? "(no cluster)" : cluster, done.lines,
             done.run.postings};
  const auto kinds = done.effective.find(currency);
  for (const KindColumn& column : shape.kinds) {
    row.emplace_back(kinds == done.effective.end() ? Money::zero(currency)
                                                   : amount(kinds->second, column.kind));
  }
  if (shape.moved) row.emplace_back(amount(done.moved, currency));
  if (shape.coverage) {
    const auto observed = static_cast<Int128>(done.observed_time.count());
    const auto held = static_cast<Int128>(done.gpu_time.count());
    row.push_back(held == 0 ? Cell() : Cell(Ratio{observed, held}));
  }
  row.emplace_back(fmt::format("{}{}", done.run.number, done.unchanged ? ", unchanged" : ""));
  return row;
}

std::vector<Table> run_tables(const std::vector<AllocatedScope>& all) {
  const OptionalColumns shape = used_columns(all);
  std::map<Currency, Table> by_currency;
  for (const AllocatedScope& done : all) {
    for (const auto& [currency, kinds] : done.effective) {
      const auto table = by_currency.try_emplace(currency, table_in(currency, shape)).first;
      table->second.rows.push_back(run_row(done, currency, shape));
    }
  }
  std::vector<Table> tables;
  for (auto& [currency, table] : by_currency) tables.push_back(std::move(table));
  if (tables.empty()) return tables;
  for (const AllocatedScope& done : all) {
    const std::string& cluster = done.run.scope.cluster.text();
    for (const std::string& note : done.notes) {
      tables.back().notes.push_back(fmt::format("note: {} {}: {}", done.run.scope.month,
                                                cluster.empty() ? "(no cluster)" : cluster, note));
    }
  }
  return tables;
}

Result<ExitCode> allocate_months(const AllocateOptions& options, Context& context) {
  const auto changed = TRY(parse_changed(options.changed));
  const auto catalog = TRY(load_catalog(context.config));
  const auto store = TRY(open_ledger(context.config));
  const auto overview = TRY(store->overview());
  const auto months = select_months(options, overview.months);
  if (!months) return std::unexpected(months.error());
  if (months->empty()) {
    return fail(ErrorCode::kNotFound, overview.months.empty()
                                          ? "there are no bill lines yet; import a bill first"
                                          : "there are no bill lines in these months, but in " +
                                                overview.months.front() + " to " +
                                                overview.months.back());
  }
  const unsigned threads = resolve_threads(options.threads, context.config);

  const auto work = TRY(store->work_records());
  const RunSettings rules{.policy = context.config.policy,
                          .catalog = catalog,
                          .threads = threads,
                          .join_rules = context.config.join_rules,
                          .at = context.clock.now(),
                          .changed = changed,
                          .imports_read = work.imports};
  std::vector<AllocatedScope> all;
  const auto closings = TRY(store->closings());
  std::uint64_t closed = 0;
  for (const std::string& name : *months) {
    if (std::ranges::find(closings, name, &Closing::month) != closings.end()) {
      if (name == options.month) return fail(ErrorCode::kConflict, month_is_closed(name));
      ++closed;
      continue;
    }
    auto month = TRY(LedgerMonth::load(*store, name, rules.join_rules));
    auto scopes = TRY(allocate_whole_month(*store, month, rules));
    TRY(record_allocation(context, scopes));
    std::ranges::move(scopes, std::back_inserter(all));
  }
  if (closed > 0) {
    context.console.say(fmt::format("{} closed {} left as {}", closed,
                                    closed == 1 ? "month was" : "months were",
                                    closed == 1 ? "it is" : "they are"));
  }
  print_tables(run_tables(all), options.table, context);
  return ExitCode::kDone;
}

Result<ExitCode> run(const AllocateOptions& options, Context& context) {
  const std::string subject = options.month.empty() ? "all months" : "month " + options.month;
  return with_intent(context, "allocate", subject, "",
                     [&] { return allocate_months(options, context); });
}

}  // namespace

Verb declare_allocate(CLI::App& app) {
  const auto options = std::make_shared<AllocateOptions>();
  CLI::App* command = app.add_subcommand(
      "allocate", "Allocate every bill line to the workloads that held its resource");
  command->add_option("--month", options->month,
                      "One month, such as 2026-03; default: all with bill lines");
  command->add_option("--from", options->from, "The first month");
  command->add_option("--to", options->to, "The last month, inclusive");
  command->add_option("--changed", options->changed,
                      "FROM..TO: allocate only what overlaps this interval again");
  add_threads_option(*command, options->threads);
  add_table_options(*command, options->table);
  command->footer(examples_footer("allocate"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
