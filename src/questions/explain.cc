#include "questions/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "allocate/allocate.h"
#include "allocate/distribute.h"
#include "allocate/explain_transfer.h"
#include "allocate/posting_order.h"
#include "config/policy_text.h"
#include "core/billing_period.h"
#include "core/hash.h"
#include "questions/telemetry.h"

namespace pennyweight {
namespace {

// The largest postings behind a row of a report.
Result<std::vector<Posting>> postings_of_row(Store& store, const ExplainQuestion& question,
                                             const Policy& policy) {
  const auto dimensions = parse_dimensions(question.by, policy);
  if (!dimensions) return std::unexpected(dimensions.error());
  const std::vector<std::string> keys =
      dimensions->size() == 1 ? std::vector{question.key} : split_values(question.key);
  if (keys.size() != dimensions->size()) {
    return fail(ErrorCode::kBadValue, fmt::format("there are {} dimensions and {} values of a key",
                                                  dimensions->size(), keys.size()));
  }
  SummaryQuery query;
  if (const auto dates = select_dates(question.dates, query); !dates) {
    return std::unexpected(dates.error());
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto filters = filters_of_key((*dimensions)[i], keys[i]);
    query.filters.insert(query.filters.end(), filters.begin(), filters.end());
  }
  query.filters.insert(query.filters.end(), question.scope.begin(), question.scope.end());
  auto postings = store.largest_postings(query, question.top);
  if (postings && postings->empty()) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("no posting has {} = '{}'; 'pennyweight report --by {}' shows what there is",
                    fmt::join(*dimensions, ","), question.key, fmt::join(*dimensions, ",")));
  }
  return postings;
}

Result<std::vector<Posting>> postings_in_scope(Store& store, const FactId& charge,
                                               const ExplainQuestion& question) {
  SummaryQuery query;
  query.filters = question.scope;
  query.filters.push_back({"charge", {to_text(charge)}, false});
  auto postings = store.largest_postings(query, question.top);
  if (postings && postings->empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no bill line {}", question.charge));
  }
  return postings;
}

Result<std::vector<Posting>> postings_of_charge(Store& store, const ExplainQuestion& question) {
  const auto id = parse_hash(question.charge);
  if (!id) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not a charge's id, which has 32 hexadecimal digits; "
                            "'pennyweight reconcile --lines' lists them",
                            question.charge));
  }
  if (!question.scope.empty()) return postings_in_scope(store, FactId{*id}, question);
  auto postings = store.postings_of(FactId{*id});
  if (!postings) return postings;
  if (postings->empty()) {
    const auto charge = store.find_charge(FactId{*id});
    if (!charge) return std::unexpected(charge.error());
    return fail(ErrorCode::kNotFound,
                *charge ? "the bill line is there, and not allocated; run 'pennyweight allocate'"
                        : fmt::format("there is no bill line {}", question.charge));
  }
  std::stable_sort(postings->begin(), postings->end(), [](const Posting& a, const Posting& b) {
    return a.costs.effective.ticks() > b.costs.effective.ticks();
  });
  if (postings->size() > question.top) {
    postings->erase(postings->begin() + static_cast<std::ptrdiff_t>(question.top), postings->end());
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
Result<Run> run_of(Store& store, const Charge& charge, const std::vector<Node>& nodes,
                   std::span<const JoinRule> join_rules) {
  const Scope scope{cluster_of_charges({&charge, 1}, nodes, join_rules).front(),
                    charge.booked_month};
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

// A line that takes one of a closed month back: why it is there, and that it gives back what was
// taken.
Result<Explanation> explanation_of_reversal(Store& store, const Charge& reversal,
                                            const Posting& posting) {
  const auto original = store.find_charge(*reversal.takes_back);
  if (!original) return std::unexpected(original.error());
  const auto postings = store.postings_of(*reversal.takes_back);
  if (!postings) return std::unexpected(postings.error());
  const auto imports = store.imports();
  if (!imports) return std::unexpected(imports.error());
  Explanation told;
  const auto text = [](const Money& money) {
    return to_text(money.amount()) + " " + money.currency().text();
  };
  const auto found = std::ranges::find(*imports, reversal.import_number, &ImportRecord::number);
  if (!*original || found == imports->end()) {
    return fail(ErrorCode::kStore, "what is taken back, or the delivery, is not in the ledger");
  }
  const Charge& line = **original;
  told.steps.push_back({"A line of a closed month, taken back",
                        {{"line", to_text(line.id)},
                         {"billing month", line.booked_month + ", closed"},
                         {"booked in", reversal.booked_month},
                         {"effective cost then", text(line.costs.effective)},
                         {"effective cost now", text(reversal.costs.effective)}}});
  told.steps.push_back(
      {"Why",
       {{"delivery", fmt::format("import {} of {}", found->number, to_text(found->source.at))},
        {"file", found->source.name},
        {"style", std::string(to_text(found->source.style))},
        {"reason", found->source.reason.empty() ? "none was given" : found->source.reason}}});
  const auto taken = std::ranges::find_if(*postings, [&](const Posting& other) {
    return other.workload == posting.workload && other.node == posting.node &&
           other.gpu == posting.gpu && other.kind == posting.kind &&
           other.component == posting.component && other.interval == posting.interval &&
           other.weight == posting.weight &&
           (other.costs.effective + posting.costs.effective).is_zero();
  });
  told.exact = taken != postings->end();
  told.steps.push_back(
      {"The posting",
       {{"taken then", told.exact ? text(taken->costs.effective) : "not found"},
        {"given back", text(posting.costs.effective)},
        {"together", told.exact ? text(taken->costs.effective + posting.costs.effective)
                                : "does not add up to zero"}}});
  return told;
}

// What postings of one component are held by.
Result<std::vector<Holding>> holders_of(Store& store, std::span<const Posting> postings,
                                        Component component) {
  std::set<FactId> ids;
  for (const Posting& posting : postings) {
    if (posting.component == component && posting.holding) ids.insert(*posting.holding);
  }
  std::vector<Holding> holders;
  for (const FactId& id : ids) {
    auto holding = store.find_holding(id);
    if (!holding) return std::unexpected(holding.error());
    if (*holding) holders.push_back(**std::move(holding));
  }
  return holders;
}

Result<Explanation> explanation_of(Store& store, const Posting& posting, const Config& config,
                                   const Catalog& catalog, std::vector<std::string>& warnings) {
  const auto charge = store.find_charge(posting.charge);
  if (!charge) return std::unexpected(charge.error());
  auto postings = store.postings_of(posting.charge);
  if (!postings) return std::unexpected(postings.error());
  const auto place = [&] {
    return static_cast<std::size_t>(std::ranges::find(*postings, posting) - postings->begin());
  };
  if (place() == postings->size()) return fail(ErrorCode::kStore, "a posting is not its charge's");
  if (!*charge) return explanation_of_transfer(store, posting, *postings, place());
  if ((*charge)->takes_back) return explanation_of_reversal(store, **charge, posting);
  std::optional<Holding> holding;
  if (posting.holding) {
    auto held = store.find_holding(*posting.holding);
    if (!held) return std::unexpected(held.error());
    holding = std::move(*held);
  }
  auto nodes = store.nodes();
  if (!nodes) return std::unexpected(nodes.error());
  const auto run = run_of(store, **charge, *nodes, config.join_rules);
  if (!run) return std::unexpected(run.error());
  const ClusterId& cluster = run->scope.cluster;
  *nodes = of_cluster(std::move(*nodes), cluster);
  const auto policy = parse_policy_text(run->policy);
  if (!policy) return std::unexpected(policy.error());
  if (catalog.version() != run->catalog_version) {
    warnings.emplace_back("the price lists have changed since the allocation; allocate again");
  }
  const auto facts =
      sharing_facts(store, cluster, day_of(posting.interval.begin(), policy->time_zone));
  if (!facts) return std::unexpected(facts.error());
  const auto explained = [&](std::span<const Holding> holders) {
    to_run_order(*postings, holders);
    return explain({.charge = **charge,
                    .postings = *postings,
                    .chosen = place(),
                    .holding = holding ? &*holding : nullptr,
                    .nodes = *nodes,
                    .run = *run,
                    .policy = *policy,
                    .catalog = catalog,
                    .facts = ExplanationFacts{
                        .gpus = facts->gpus,
                        .outages = facts->outages,
                        .holdings = facts->holdings,
                        .seen = telemetry_of(store, cluster, facts->gpus, policy->usage)}});
  };
  auto explanation = explained({});
  if (explanation.exact) return explanation;
  // Only where two weigh the same does it matter which of their holdings came first; each is asked
  // for by itself.
  const auto holders = holders_of(store, *postings, posting.component);
  if (!holders) return std::unexpected(holders.error());
  return explained(*holders);
}

// The cluster whose postings a bill line, or a transfer, has. Two clusters may have workloads of
// one name.
Result<std::vector<std::string>> clusters_of(Store& store, const FactId& charge) {
  SummaryQuery query;
  query.group_by = {"cluster"};
  query.filters = {{"charge", {to_text(charge)}, false}};
  const auto rows = store.summarise(query);
  if (!rows) return std::unexpected(rows.error());
  std::vector<std::string> clusters;
  for (const SummaryRow& row : *rows) clusters.push_back(row.keys[0]);
  return clusters;
}

// The workloads of the posting's cluster and time that the scope lets through.
Result<std::set<std::string>> workloads_in_scope(Store& store, const Posting& posting,
                                                 const std::vector<SummaryFilter>& scope) {
  SummaryQuery query;
  // A local day is within a day of the day in UTC, wherever it is.
  query.first_day = posting.day - std::chrono::days(1);
  query.last_day = posting.day + std::chrono::days(1);
  query.group_by = {"workload"};
  query.filters = scope;
  auto clusters = clusters_of(store, posting.charge);
  if (!clusters) return std::unexpected(clusters.error());
  query.filters.push_back({"cluster", *std::move(clusters), false});
  const auto rows = store.summarise(query);
  if (!rows) return std::unexpected(rows.error());
  std::set<std::string> workloads;
  for (const SummaryRow& row : *rows) workloads.insert(row.keys[0]);
  return workloads;
}

// Of a step, the facts that somebody in a scope may see; nothing: not the step at all.
struct ToldStep {
  std::string_view title;
  std::vector<std::string_view> facts;  // empty: all
};

const std::vector<ToldStep>& told_in_scope() {
  static const std::vector<ToldStep> kTold = {
      {"The bill line",
       {"charge", "description", "category", "service", "resource", "charge period"}},
      {"Which part of the price", {"component", "how", "weights", "part of the price"}},
      {"Who held it, and when", {}},
      {"The rule of sharing", {"basis", "formula", "kind", "on which GPU"}},
      {"Moment by moment", {}},
      {"How much it weighs", {}},
      {"What is spread", {"kind", "component", "interval", "node"}},
      {"The rule", {}},
      {"The posting", {}},
  };
  return kTold;
}

constexpr std::string_view kThisOne = " (this one)";
constexpr std::string_view kOthers = "others";

// "taken then … of …": an amount of all has no place before somebody in a scope.
std::string own_part(const std::string& value) {
  const std::size_t of = value.find(" of ");
  return of == std::string::npos ? value : value.substr(0, of);
}

}  // namespace

Result<std::vector<Posting>> find_postings(Store& store, const ExplainQuestion& question,
                                           const Policy& policy) {
  return question.charge.empty() ? postings_of_row(store, question, policy)
                                 : postings_of_charge(store, question);
}

Result<ExplainAnswer> ask_explain(Store& store, const ExplainQuestion& question,
                                  std::vector<Posting> postings, const Config& config,
                                  const Catalog& catalog) {
  ExplainAnswer answer{
      .postings = std::move(postings), .table = {}, .explanation = {}, .warnings = {}};
  answer.table = table_of(answer.postings);
  const Posting& first = answer.postings.front();
  auto explanation = explanation_of(store, first, config, catalog, answer.warnings);
  if (!explanation) return std::unexpected(explanation.error());
  answer.explanation = *std::move(explanation);
  if (question.scope.empty()) return answer;
  const auto workloads = workloads_in_scope(store, first, question.scope);
  if (!workloads) return std::unexpected(workloads.error());
  answer.explanation = cut_to_scope(answer.explanation, [&](const std::string& workload) {
    return workloads->contains(workload);
  });
  return answer;
}

std::vector<OutlineSection> outline_of(const Explanation& explanation) {
  std::vector<OutlineSection> sections;
  for (const ExplanationStep& step : explanation.steps) {
    sections.push_back({step.title, step.facts});
  }
  return sections;
}

Explanation cut_to_scope(const Explanation& whole,
                         const std::function<bool(const std::string& workload)>& names) {
  Explanation cut{.steps = {}, .exact = whole.exact};
  for (const ExplanationStep& step : whole.steps) {
    ExplanationStep kept{step.title, {}};
    if (step.title == "The amount") {
      for (const auto& [name, value] : step.facts) kept.facts.emplace_back(name, own_part(value));
    } else if (step.title.starts_with("Who shared the ")) {
      for (const auto& [name, value] : step.facts) {
        const bool is_place = name == "seat" || name == "where" || name == "and others";
        const bool is_own = name.ends_with(kThisOne) || names(name);
        kept.facts.emplace_back(is_place || is_own ? name : std::string(kOthers), value);
      }
    } else {
      const auto told = std::ranges::find(told_in_scope(), step.title, &ToldStep::title);
      if (told == told_in_scope().end()) continue;
      for (const auto& fact : step.facts) {
        const bool is_told =
            told->facts.empty() || std::ranges::find(told->facts, fact.first) != told->facts.end();
        if (is_told) kept.facts.push_back(fact);
      }
    }
    cut.steps.push_back(std::move(kept));
  }
  return cut;
}

}  // namespace pennyweight
