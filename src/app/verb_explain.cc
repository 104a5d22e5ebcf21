// explain: from a row of a report, or a bill line, down to the arithmetic of one posting.
#include <fmt/format.h>

#include <algorithm>

#include "allocate/allocate.h"
#include "allocate/distribute.h"
#include "allocate/explain.h"
#include "allocate/explain_transfer.h"
#include "app/catalog_file.h"
#include "app/table_options.h"
#include "app/telemetry.h"
#include "app/verb.h"
#include "config/policy_text.h"
#include "core/billing_period.h"
#include "report/outline.h"

namespace pennyweight {
namespace {

struct ExplainOptions {
  std::string charge;
  std::vector<std::string> by = {"team"};
  std::string key;
  DateOptions dates;
  std::uint64_t top = 5;
  TableOptions table;
};

std::vector<std::string> split_key(const std::string& key) {
  std::vector<std::string> parts(1);
  for (const char c : key) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// The largest postings behind a row of a report.
Result<std::vector<Posting>> postings_of_row(Store& store, const ExplainOptions& options,
                                             const Policy& policy) {
  const auto dimensions = parse_dimensions(options.by, policy);
  if (!dimensions) return std::unexpected(dimensions.error());
  const std::vector<std::string> keys =
      dimensions->size() == 1 ? std::vector{options.key} : split_key(options.key);
  if (keys.size() != dimensions->size()) {
    return wrong_usage(fmt::format("--by names {} dimensions and --key {} values",
                                   dimensions->size(), keys.size()));
  }
  SummaryQuery query;
  if (const auto dates = select_dates(options.dates, query); !dates) {
    return std::unexpected(dates.error());
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto filters = filters_of_key((*dimensions)[i], keys[i]);
    query.filters.insert(query.filters.end(), filters.begin(), filters.end());
  }
  auto postings = store.largest_postings(query, options.top);
  if (postings && postings->empty()) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("no posting has {} = '{}'; 'pennyweight report --by {}' shows what there is",
                    fmt::join(*dimensions, ","), options.key, fmt::join(*dimensions, ",")));
  }
  return postings;
}

Result<std::vector<Posting>> postings_of_charge(Store& store, const ExplainOptions& options) {
  const auto id = parse_hash(options.charge);
  if (!id) {
    return wrong_usage(
        fmt::format("'{}' is not a charge's id, which has 32 hexadecimal digits; "
                    "'pennyweight reconcile --lines' lists them",
                    options.charge));
  }
  auto postings = store.postings_of(FactId{*id});
  if (!postings) return postings;
  if (postings->empty()) {
    const auto charge = store.find_charge(FactId{*id});
    if (!charge) return std::unexpected(charge.error());
    return fail(ErrorCode::kNotFound,
                *charge ? "the bill line is there, and not allocated; run 'pennyweight allocate'"
                        : fmt::format("there is no bill line {}", options.charge));
  }
  std::stable_sort(postings->begin(), postings->end(), [](const Posting& a, const Posting& b) {
    return a.costs.effective.ticks() > b.costs.effective.ticks();
  });
  if (postings->size() > options.top) {
    postings->erase(postings->begin() + static_cast<std::ptrdiff_t>(options.top), postings->end());
  }
  return postings;
}

std::string text_of(std::chrono::sys_days day) { return to_text(Instant(day)).substr(0, 10); }

Table table_of(const std::vector<Posting>& postings) {
  Table table;
  const Currency currency = postings.front().costs.currency();
  table.currency = currency;
  table.title = fmt::format("The {} largest postings", postings.size());
  table.columns = {
      {"day", "day", ColumnKind::kText},
      {"node", "node", ColumnKind::kText},
      {"workload", "workload", ColumnKind::kText},
      {"kind", "kind", ColumnKind::kText},
      {"component", "component", ColumnKind::kText},
      {"effective_cost", fmt::format("effective {}", currency.text()), ColumnKind::kMoney},
      {"gpu_hours", "GPU-hours", ColumnKind::kGpuHours},
      {"charge", "charge", ColumnKind::kId}};
  for (const Posting& posting : postings) {
    if (posting.costs.currency() != currency) continue;
    table.rows.push_back({text_of(posting.day), posting.node.text(), owner_text(posting.workload),
                          std::string(to_text(posting.kind)),
                          std::string(to_text(posting.component)), posting.costs.effective,
                          posting.gpu_time, to_text(posting.charge)});
  }
  return table;
}

// The run that made the postings of a charge: the current one of its cluster and month.
Result<Run> run_of(Store& store, const Charge& charge, const std::vector<Node>& nodes) {
  const Scope scope{
      cluster_of_charges({&charge, 1}, nodes).front(),
      BillingPeriod::containing(charge.billing_period.begin(), TimeZone::utc()).text()};
  const auto runs = store.runs();
  if (!runs) return std::unexpected(runs.error());
  for (const Run& run : *runs) {
    if (run.current && run.scope == scope) return run;
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("no run has allocated {} of '{}'; run 'pennyweight allocate'",
                          scope.month, scope.cluster.text()));
}

// The current runs that can have made a transfer: those of its month. A transfer says neither the
// cluster nor the policy, and its id fits one run alone.
Result<Explanation> explanation_of_transfer(Store& store, const Posting& posting,
                                            std::span<const Posting> postings, std::size_t chosen) {
  const auto runs = store.runs();
  if (!runs) return std::unexpected(runs.error());
  for (const Run& run : *runs) {
    if (!run.current) continue;
    const auto month = BillingPeriod::parse(run.scope.month, TimeZone::utc());
    if (!month) continue;
    // A day more on either side, since days of another zone reach beyond the month.
    const Interval wide(month->to_interval().begin() - std::chrono::hours(24),
                        month->to_interval().end() + std::chrono::hours(24));
    if (!wide.overlap(posting.interval)) continue;
    const auto policy = parse_policy_text(run.policy);
    if (!policy) return std::unexpected(policy.error());
    const auto corrections = store.corrections(run.scope.cluster, wide);
    if (!corrections) return std::unexpected(corrections.error());
    return explain_transfer({.postings = postings,
                             .chosen = chosen,
                             .run = run,
                             .policy = *policy,
                             .corrections = *corrections});
  }
  return fail(ErrorCode::kStore, "a posting's bill line is not in the ledger");
}

template <class Fact>
std::vector<Fact> of_cluster(std::vector<Fact> facts, const ClusterId& cluster) {
  std::erase_if(facts, [&](const Fact& fact) { return fact.cluster != cluster; });
  return facts;
}

// What is needed to tell the sharing of a device again, over the posting's local day.
struct SharingFacts {
  std::vector<Gpu> gpus;
  std::vector<Outage> outages;
  std::vector<Holding> holdings;
};

Result<SharingFacts> sharing_facts(Store& store, const ClusterId& cluster, const Interval& day) {
  SharingFacts facts;
  auto gpus = store.gpus();
  if (!gpus) return std::unexpected(gpus.error());
  facts.gpus = of_cluster(std::move(*gpus), cluster);
  auto outages = store.outages(cluster, day);
  if (!outages) return std::unexpected(outages.error());
  facts.outages = std::move(*outages);
  const auto scanned = store.scan_holdings(cluster, day, [&](std::span<const Holding> batch) {
    facts.holdings.insert(facts.holdings.end(), batch.begin(), batch.end());
    return true;
  });
  if (!scanned) return std::unexpected(scanned.error());
  return facts;
}

Result<Explanation> explanation_of(Store& store, const Posting& posting, Context& context) {
  const auto charge = store.find_charge(posting.charge);
  if (!charge) return std::unexpected(charge.error());
  const auto postings = store.postings_of(posting.charge);
  if (!postings) return std::unexpected(postings.error());
  const auto found = std::find(postings->begin(), postings->end(), posting);
  if (found == postings->end()) return fail(ErrorCode::kStore, "a posting is not its charge's");
  const auto chosen = static_cast<std::size_t>(found - postings->begin());
  if (!*charge) return explanation_of_transfer(store, posting, *postings, chosen);
  std::optional<Holding> holding;
  if (posting.holding) {
    auto held = store.find_holding(*posting.holding);
    if (!held) return std::unexpected(held.error());
    holding = std::move(*held);
  }
  auto nodes = store.nodes();
  if (!nodes) return std::unexpected(nodes.error());
  const auto run = run_of(store, **charge, *nodes);
  if (!run) return std::unexpected(run.error());
  const ClusterId& cluster = run->scope.cluster;
  *nodes = of_cluster(std::move(*nodes), cluster);
  const auto policy = parse_policy_text(run->policy);
  if (!policy) return std::unexpected(policy.error());
  const auto catalog = load_catalog(context.config);
  if (!catalog) return std::unexpected(catalog.error());
  if (catalog->version() != run->catalog_version) {
    context.console.warn("the price lists have changed since the allocation; allocate again");
  }
  const auto facts =
      sharing_facts(store, cluster, day_of(posting.interval.begin(), policy->time_zone));
  if (!facts) return std::unexpected(facts.error());
  return explain({.charge = **charge,
                  .postings = *postings,
                  .chosen = chosen,
                  .holding = holding ? &*holding : nullptr,
                  .nodes = *nodes,
                  .run = *run,
                  .policy = *policy,
                  .catalog = *catalog,
                  .facts = ExplanationFacts{
                      .gpus = facts->gpus,
                      .outages = facts->outages,
                      .holdings = facts->holdings,
                      .seen = telemetry_of(store, cluster, facts->gpus, policy->usage)}});
}

void print(const Table& table, const Explanation& explanation, const ExplainOptions& options,
           const Context& context) {
  std::vector<OutlineSection> sections;
  for (const ExplanationStep& step : explanation.steps)
    sections.push_back({step.title, step.facts});
  const TextStyle style = context.console.style(options.table.digits);
  if (options.table.format == "json") {
    context.console.print(fmt::format("{{\"postings\": {},\n\"steps\": {},\n\"exact\": {}}}\n",
                                      render_json({table}), render_json(sections),
                                      explanation.exact));
    return;
  }
  context.console.print(render_text(table, style) + "\nWhy the first of them is what it is\n\n" +
                        render_text(sections, style));
}

Result<ExitCode> run(const ExplainOptions& options, Context& context) {
  if (options.charge.empty() == options.key.empty()) {
    return wrong_usage("say what to explain: --charge ID, or --by DIMENSION --key VALUE");
  }
  const auto store = open_ledger(context.config);
  if (!store) return std::unexpected(store.error());
  const auto postings = options.charge.empty()
                            ? postings_of_row(**store, options, context.config.policy)
                            : postings_of_charge(**store, options);
  if (!postings) return std::unexpected(postings.error());
  const auto explanation = explanation_of(**store, postings->front(), context);
  if (!explanation) return std::unexpected(explanation.error());
  print(table_of(*postings), *explanation, options, context);
  if (explanation->exact) return ExitCode::kDone;
  return fail(ErrorCode::kConflict,
              "the stored postings are not what the rules give; run 'pennyweight reconcile'");
}

}  // namespace

Verb declare_explain(CLI::App& app) {
  const auto options = std::make_shared<ExplainOptions>();
  CLI::App* command =
      app.add_subcommand("explain", "Say why an amount is what it is, step by step");
  command->add_option("--charge", options->charge, "The id of a bill line");
  command->add_option("--by", options->by, "The dimensions of a report …")->capture_default_str();
  command->add_option("--key", options->key, "… and the row of it, as the report shows it");
  add_date_options(*command, options->dates);
  command->add_option("--top", options->top, "How many of the largest postings to list")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command->add_option("--format", options->table.format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_option("--digits", options->table.digits, "Digits of money in text")
      ->check(CLI::Range(0, Decimal::kFractionDigits))
      ->capture_default_str();
  command->footer(examples_of("explain"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
