// allocate: one run for each cluster and month of the bill.
#include <fmt/format.h>

#include <map>
#include <thread>

#include "allocate/allocate.h"
#include "app/catalog_file.h"
#include "app/ledger_month.h"
#include "app/table_options.h"
#include "app/verb.h"
#include "app/version.h"

namespace pennyweight {
namespace {

struct AllocateOptions {
  std::string month;
  std::string from;
  std::string to;
  std::optional<unsigned> threads;
  TableOptions table;
};

// What one run did, for the table.
struct Done {
  Scope scope;
  std::uint64_t lines = 0;
  Run run;
  bool unchanged = false;
  std::map<Currency, std::map<PostingKind, Money>> effective;
  std::vector<AllocationNote> notes;
};

Result<std::vector<std::string>> months_of(const AllocateOptions& options,
                                           const std::vector<std::string>& known) {
  for (const std::string* text : {&options.month, &options.from, &options.to}) {
    if (text->empty()) continue;
    if (const auto month = check_month(*text); !month) return std::unexpected(month.error());
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

Result<Done> allocate_scope(Store& store, const LedgerMonth& month, const ClusterId& cluster,
                            const AllocationInput& input, Context& context) {
  const auto allocation = allocate(input);
  if (!allocation) return std::unexpected(allocation.error());

  const Scope scope{cluster, month.name()};
  Done done{scope,
            input.charges.size(),
            Run{scope,
                0,
                input.policy.text(),
                input.policy.version(),
                input.catalog.version(),
                input.policy.time_zone.name(),
                kProgramVersion,
                context.clock.now(),
                {}},
            false,
            {},
            allocation->notes};
  for (const Posting& posting : allocation->postings) {
    const Money& cost = posting.costs.effective;
    auto& kinds = done.effective[cost.currency()];
    kinds.try_emplace(posting.kind, Money::zero(cost.currency())).first->second += cost;
  }

  const auto before = month.current_run(done.scope);
  auto session = store.begin_run(done.run);
  if (!session) return std::unexpected(session.error());
  if (auto ok = (*session)->append_postings(allocation->postings); !ok) {
    return std::unexpected(ok.error());
  }
  if (auto ok = (*session)->append_dimensions(allocation->dimensions); !ok) {
    return std::unexpected(ok.error());
  }
  const auto committed = (*session)->commit();
  if (!committed) return std::unexpected(committed.error());
  done.run = *committed;
  done.unchanged = before == committed->number;
  return done;
}

std::vector<Table> tables_of(const std::vector<Done>& all) {
  std::map<Currency, Table> by_currency;
  for (const Done& done : all) {
    for (const auto& [currency, kinds] : done.effective) {
      Table& table = by_currency[currency];
      if (table.columns.empty()) {
        table.title = fmt::format("Allocated, effective cost in {}", currency.text());
        table.currency = currency;
        table.columns = {{"month", "month", ColumnKind::kText},
                         {"cluster", "cluster", ColumnKind::kText},
                         {"lines", "bill lines", ColumnKind::kCount},
                         {"postings", "postings", ColumnKind::kCount},
                         {"held", "held", ColumnKind::kMoney},
                         {"unallocated", "unallocated", ColumnKind::kMoney},
                         {"shared", "shared", ColumnKind::kMoney},
                         {"run", "run", ColumnKind::kText}};
      }
      Money held = Money::zero(currency);
      Money unallocated = held;
      Money shared = held;
      for (const auto& [kind, cost] : kinds) {
        const bool is_held = kind == PostingKind::kUsed || kind == PostingKind::kHeldIdle;
        (is_held ? held : kind == PostingKind::kShared ? shared : unallocated) += cost;
      }
      const std::string cluster = done.scope.cluster.text();
      table.rows.push_back(
          {done.scope.month, cluster.empty() ? "(no cluster)" : cluster, done.lines,
           done.run.postings, held, unallocated, shared,
           fmt::format("{}{}", done.run.number, done.unchanged ? ", unchanged" : "")});
    }
  }
  std::vector<Table> tables;
  for (auto& [currency, table] : by_currency) tables.push_back(std::move(table));
  if (tables.empty()) return tables;
  for (const Done& done : all) {
    const std::string& cluster = done.scope.cluster.text();
    for (const AllocationNote& note : done.notes) {
      tables.back().notes.push_back(fmt::format("note: {} {}: {} ({} times)", done.scope.month,
                                                cluster.empty() ? "(no cluster)" : cluster,
                                                note.what, note.count));
    }
  }
  return tables;
}

Result<ExitCode> run(const AllocateOptions& options, Context& context) {
  const auto catalog = load_catalog(context.config);
  if (!catalog) return std::unexpected(catalog.error());
  const auto store = open_ledger(context.config);
  if (!store) return std::unexpected(store.error());
  const auto overview = (*store)->overview();
  if (!overview) return std::unexpected(overview.error());
  const auto months = months_of(options, overview->months);
  if (!months) return std::unexpected(months.error());
  if (months->empty()) {
    return fail(ErrorCode::kNotFound,
                overview->months.empty()
                    ? "there are no bill lines yet; import a bill first"
                    : "there are no bill lines in these months; there are some in " +
                          overview->months.front() + " to " + overview->months.back());
  }
  const unsigned wanted = options.threads.value_or(context.config.threads);
  const unsigned threads = wanted > 0 ? wanted : std::max(1U, std::thread::hardware_concurrency());

  std::vector<Done> all;
  for (const std::string& name : *months) {
    auto month = LedgerMonth::load(**store, name);
    if (!month) return std::unexpected(month.error());
    for (const ClusterId& cluster : month->clusters()) {
      const auto facts = month->facts_of(**store, cluster);
      if (!facts) return std::unexpected(facts.error());
      const AllocationInput input{.cluster = cluster,
                                  .charges = facts->charges,
                                  .nodes = facts->nodes,
                                  .gpus = facts->gpus,
                                  .holdings = facts->holdings,
                                  .policy = context.config.policy,
                                  .catalog = *catalog,
                                  .threads = threads};
      auto done = allocate_scope(**store, *month, cluster, input, context);
      if (!done) {
        return std::unexpected(
            done.error().during(fmt::format("cannot allocate {} {}", name, cluster.text())));
      }
      all.push_back(std::move(*done));
    }
  }
  print_tables(tables_of(all), options.table, context);
  return ExitCode::kDone;
}

}  // namespace

Verb declare_allocate(CLI::App& app) {
  const auto options = std::make_shared<AllocateOptions>();
  CLI::App* command =
      app.add_subcommand("allocate", "Divide every bill line among those who held its resource");
  command->add_option("--month", options->month,
                      "One month, such as 2026-03; else all with bill lines");
  command->add_option("--from", options->from, "The first month");
  command->add_option("--to", options->to, "The last month, inclusive");
  command->add_option("--threads", options->threads, "0: one for each core; it changes no figure")
      ->check(CLI::Range(0, 1024));
  add_table_options(*command, options->table);
  command->footer(examples_of("allocate"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
