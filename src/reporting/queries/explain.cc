#include "reporting/queries/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "allocation/allocate.h"
#include "allocation/distribute.h"
#include "allocation/explain_transfer.h"
#include "allocation/posting_order.h"
#include "config/policy_text.h"
#include "core/billing_period.h"
#include "core/hash.h"
#include "core/try.h"
#include "reporting/queries/telemetry_source.h"

namespace pennyweight {
namespace {

// The largest postings behind a row of a report.
Result<std::vector<Posting>> find_row_postings(Store& store, const ExplainQuery& params,
                                               const Policy& policy) {
  const auto dimensions = parse_dimensions(params.by, policy);
  if (!dimensions) return std::unexpected(dimensions.error());
  const std::vector<std::string> keys =
      dimensions->size() == 1 ? std::vector{params.key} : split_list(params.key);
  if (keys.size() != dimensions->size()) {
    return fail(ErrorCode::kBadValue,
                fmt::format("the key needs a value for each of the {} dimensions, but has {}",
                            dimensions->size(), keys.size()));
  }
  SummaryQuery query;
  TRY(apply_dates(params.dates, query));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto filters = row_filters((*dimensions)[i], keys[i]);
    query.filters.insert(query.filters.end(), filters.begin(), filters.end());
  }
  query.filters.insert(query.filters.end(), params.scope.begin(), params.scope.end());
  auto postings = store.largest_postings(query, params.top);
  if (postings && postings->empty()) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("no posting has {} = '{}'; 'pennyweight report --by {}' shows what there is",
                    fmt::join(*dimensions, ","), params.key, fmt::join(*dimensions, ",")));
  }
  return postings;
}

Result<std::vector<Posting>> find_scoped_charge_postings(Store& store, const FactId& charge,
                                                         const ExplainQuery& params) {
  SummaryQuery query;
  query.filters = params.scope;
  query.filters.push_back({"charge", {to_text(charge)}, false});
  auto postings = store.largest_postings(query, params.top);
  if (postings && postings->empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no bill line {}", params.charge));
  }
  return postings;
}

Result<std::vector<Posting>> find_charge_postings(Store& store, const ExplainQuery& params) {
  const auto id = parse_hash(params.charge);
  if (!id) {
    return fail(ErrorCode::kBadValue,
                fmt::format("'{}' is not a charge's id, which has 32 hexadecimal digits; "
                            "'pennyweight reconcile --lines' lists them",
                            params.charge));
  }
  if (!params.scope.empty()) return find_scoped_charge_postings(store, FactId{*id}, params);
  auto postings = store.postings_of(FactId{*id});
  if (!postings) return postings;
  if (postings->empty()) {
    const auto charge = TRY(store.find_charge(FactId{*id}));
    return fail(ErrorCode::kNotFound,
                charge ? "the bill line is not allocated yet; run 'pennyweight allocate'"
                       : fmt::format("there is no bill line {}", params.charge));
  }
  std::stable_sort(postings->begin(), postings->end(), [](const Posting& a, const Posting& b) {
    return a.costs.effective.ticks() > b.costs.effective.ticks();
  });
  if (postings->size() > params.top) {
    postings->erase(postings->begin() + static_cast<std::ptrdiff_t>(params.top), postings->end());
  }
  return postings;
}

std::string day_text(std::chrono::sys_days day) { return to_text(Instant(day)).substr(0, 10); }

Table posting_table(const std::vector<Posting>& postings) {
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
    table.rows.push_back({day_text(posting.day), posting.node.text(), owner_text(posting.workload),
                          std::string(to_text(posting.kind)),
                          std::string(to_text(posting.component)), posting.costs.effective,
                          posting.gpu_time, to_text(posting.charge)});
  }
  return table;
}

// The run that made the postings of a charge: the current one of its cluster and month.
Result<Run> find_run(Store& store, const Charge& charge, const std::vector<Node>& nodes,
                     std::span<const JoinRule> join_rules) {
  const Scope scope{assign_clusters({&charge, 1}, nodes, join_rules).front(), charge.booked_month};
  const auto runs = TRY(store.runs());
  for (const Run& run : runs) {
    if (run.current && run.scope == scope) return run;
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("no run has allocated {} in cluster '{}'; run 'pennyweight allocate'",
                          scope.month, scope.cluster.text()));
}

// Tries the current runs of the transfer's month: a transfer names neither cluster nor policy, but
// its id fits only one run.
Result<Explanation> explain_transfer_posting(Store& store, const Posting& posting,
                                             std::span<const Posting> postings,
                                             std::size_t chosen) {
  const auto runs = TRY(store.runs());
  for (const Run& run : runs) {
    if (!run.current) continue;
    const auto month = BillingPeriod::parse(run.scope.month, TimeZone::utc());
    if (!month) continue;
    // One more day on either side: days of other time zones reach beyond the month.
    const Interval wide(month->to_interval().begin() - std::chrono::hours(24),
                        month->to_interval().end() + std::chrono::hours(24));
    if (!wide.overlap(posting.interval)) continue;
    const auto policy = TRY(parse_policy_text(run.policy));
    const auto corrections = TRY(store.corrections(run.scope.cluster, wide));
    return explain_transfer({.postings = postings,
                             .chosen = chosen,
                             .run = run,
                             .policy = policy,
                             .corrections = corrections});
  }
  return fail(ErrorCode::kStore, "the bill line of a posting is not in the ledger");
}

template <class Fact>
std::vector<Fact> keep_cluster(std::vector<Fact> facts, const ClusterId& cluster) {
  std::erase_if(facts, [&](const Fact& fact) { return fact.cluster != cluster; });
  return facts;
}

// The facts that determine who shared a device during the posting's local day.
struct SharingFacts {
  std::vector<Gpu> gpus;
  std::vector<Outage> outages;
  std::vector<Holding> holdings;
};

Result<SharingFacts> sharing_facts(Store& store, const ClusterId& cluster, const Interval& day) {
  SharingFacts facts;
  auto gpus = TRY(store.gpus());
  facts.gpus = keep_cluster(std::move(gpus), cluster);
  auto outages = TRY(store.outages(cluster, day));
  facts.outages = std::move(outages);
  TRY(store.scan_holdings(cluster, day, [&](std::span<const Holding> batch) {
    facts.holdings.insert(facts.holdings.end(), batch.begin(), batch.end());
    return true;
  }));
  return facts;
}

// Explains a charge that reverses one of a closed month: why it exists, and that it gives back what
// was taken.
Result<Explanation> explain_reversal(Store& store, const Charge& reversal, const Posting& posting) {
  const auto original = store.find_charge(*reversal.takes_back);
  if (!original) return std::unexpected(original.error());
  const auto postings = TRY(store.postings_of(*reversal.takes_back));
  const auto imports = TRY(store.imports());
  Explanation explanation;
  const auto text = [](const Money& money) {
    return to_text(money.amount()) + " " + money.currency().text();
  };
  const auto found = std::ranges::find(imports, reversal.import_number, &ImportRecord::number);
  if (!*original || found == imports.end()) {
    return fail(ErrorCode::kStore, "the reversed bill line, or its delivery, is not in the ledger");
  }
  const Charge& line = **original;
  explanation.steps.push_back({"A line of a closed month, taken back",
                               {{"line", to_text(line.id)},
                                {"billing month", line.booked_month + ", closed"},
                                {"booked in", reversal.booked_month},
                                {"effective cost then", text(line.costs.effective)},
                                {"effective cost now", text(reversal.costs.effective)}}});
  explanation.steps.push_back(
      {"Why",
       {{"delivery", fmt::format("import {} of {}", found->number, to_text(found->source.at))},
        {"file", found->source.name},
        {"style", std::string(to_text(found->source.style))},
        {"reason", found->source.reason.empty() ? "none was given" : found->source.reason}}});
  const auto taken = std::ranges::find_if(postings, [&](const Posting& other) {
    return other.workload == posting.workload && other.node == posting.node &&
           other.gpu == posting.gpu && other.kind == posting.kind &&
           other.component == posting.component && other.interval == posting.interval &&
           other.weight == posting.weight &&
           (other.costs.effective + posting.costs.effective).is_zero();
  });
  explanation.exact = taken != postings.end();
  explanation.steps.push_back(
      {"The posting",
       {{"taken then", explanation.exact ? text(taken->costs.effective) : "not found"},
        {"given back", text(posting.costs.effective)},
        {"together", explanation.exact ? text(taken->costs.effective + posting.costs.effective)
                                       : "does not add up to zero"}}});
  return explanation;
}

// The holdings of the postings of one component.
Result<std::vector<Holding>> find_holdings(Store& store, std::span<const Posting> postings,
                                           Component component) {
  std::set<FactId> ids;
  for (const Posting& posting : postings) {
    if (posting.component == component && posting.holding) ids.insert(*posting.holding);
  }
  std::vector<Holding> holders;
  for (const FactId& id : ids) {
    auto holding = TRY(store.find_holding(id));
    if (holding) holders.push_back(*std::move(holding));
  }
  return holders;
}

Result<Explanation> explain_posting(Store& store, const Posting& posting, const Config& config,
                                    const Catalog& catalog, std::vector<std::string>& warnings) {
  const auto charge = store.find_charge(posting.charge);
  if (!charge) return std::unexpected(charge.error());
  auto postings = TRY(store.postings_of(posting.charge));
  const auto place = [&] {
    return static_cast<std::size_t>(std::ranges::find(postings, posting) - postings.begin());
  };
  if (place() == postings.size())
    return fail(ErrorCode::kStore, "a posting does not belong to its charge");
  if (!*charge) return explain_transfer_posting(store, posting, postings, place());
  if ((*charge)->takes_back) return explain_reversal(store, **charge, posting);
  std::optional<Holding> holding;
  if (posting.holding) {
    auto held = TRY(store.find_holding(*posting.holding));
    holding = std::move(held);
  }
  auto nodes = TRY(store.nodes());
  const auto run = TRY(find_run(store, **charge, nodes, config.join_rules));
  const ClusterId& cluster = run.scope.cluster;
  nodes = keep_cluster(std::move(nodes), cluster);
  const auto policy = TRY(parse_policy_text(run.policy));
  if (catalog.version() != run.catalog_version) {
    warnings.emplace_back(
        "the price lists have changed since the allocation; run 'pennyweight allocate' again");
  }
  const auto facts =
      TRY(sharing_facts(store, cluster, day_of(posting.interval.begin(), policy.time_zone)));
  const auto explained = [&](std::span<const Holding> holders) {
    sort_in_run_order(postings, holders);
    return explain({.charge = **charge,
                    .postings = postings,
                    .chosen = place(),
                    .holding = holding ? &*holding : nullptr,
                    .nodes = nodes,
                    .run = run,
                    .policy = policy,
                    .catalog = catalog,
                    .facts = ExplanationFacts{.gpus = facts.gpus,
                                              .outages = facts.outages,
                                              .holdings = facts.holdings,
                                              .utilization = telemetry_source(
                                                  store, cluster, facts.gpus, policy.usage)}});
  };
  auto explanation = explained({});
  if (explanation.exact) return explanation;
  // The order of holdings matters only where two weights are equal; their holdings are then looked
  // up one by one.
  const auto holders = TRY(find_holdings(store, postings, posting.component));
  return explained(holders);
}

// The clusters in which a charge or transfer has postings. Two clusters may have workloads of the
// same name.
Result<std::vector<std::string>> find_posting_clusters(Store& store, const FactId& charge) {
  SummaryQuery query;
  query.group_by = {"cluster"};
  query.filters = {{"charge", {to_text(charge)}, false}};
  const auto rows = TRY(store.summarise(query));
  std::vector<std::string> clusters;
  for (const SummaryRow& row : rows) clusters.push_back(row.keys[0]);
  return clusters;
}

// The workloads in the scope, in the posting's cluster and time.
Result<std::set<std::string>> workloads_in_scope(Store& store, const Posting& posting,
                                                 const std::vector<SummaryFilter>& scope) {
  SummaryQuery query;
  // A local day differs from the UTC day by at most a day.
  query.first_day = posting.day - std::chrono::days(1);
  query.last_day = posting.day + std::chrono::days(1);
  query.group_by = {"workload"};
  query.filters = scope;
  auto clusters = TRY(find_posting_clusters(store, posting.charge));
  query.filters.push_back({"cluster", std::move(clusters), false});
  const auto rows = TRY(store.summarise(query));
  std::set<std::string> workloads;
  for (const SummaryRow& row : rows) workloads.insert(row.keys[0]);
  return workloads;
}

// A step that scoped users may see, and which of its facts. They see no other steps.
struct VisibleStep {
  std::string_view title;
  std::vector<std::string_view> facts;  // empty: all
};

const std::vector<VisibleStep>& visible_steps() {
  static const std::vector<VisibleStep> kVisible = {
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
  return kVisible;
}

constexpr std::string_view kThisOne = " (this one)";
constexpr std::string_view kOthers = "others";

// Removes the total from "… of …": scoped users may not see what all owners pay together.
std::string strip_total(const std::string& value) {
  const std::size_t of = value.find(" of ");
  return of == std::string::npos ? value : value.substr(0, of);
}

}  // namespace

Result<std::vector<Posting>> find_postings(Store& store, const ExplainQuery& params,
                                           const Policy& policy) {
  return params.charge.empty() ? find_row_postings(store, params, policy)
                               : find_charge_postings(store, params);
}

Result<ExplainResult> explain_postings(Store& store, const ExplainQuery& params,
                                       std::vector<Posting> postings, const Config& config,
                                       const Catalog& catalog) {
  ExplainResult answer{
      .postings = std::move(postings), .table = {}, .explanation = {}, .warnings = {}};
  answer.table = posting_table(answer.postings);
  const Posting& first = answer.postings.front();
  auto explanation = TRY(explain_posting(store, first, config, catalog, answer.warnings));
  answer.explanation = std::move(explanation);
  if (params.scope.empty()) return answer;
  const auto workloads = TRY(workloads_in_scope(store, first, params.scope));
  answer.explanation = restrict_to_scope(answer.explanation, [&](const std::string& workload) {
    return workloads.contains(workload);
  });
  return answer;
}

std::vector<OutlineSection> outline_explanation(const Explanation& explanation) {
  std::vector<OutlineSection> sections;
  for (const ExplanationStep& step : explanation.steps) {
    sections.push_back({step.title, step.facts});
  }
  return sections;
}

Explanation restrict_to_scope(const Explanation& whole,
                              const std::function<bool(const std::string& workload)>& names) {
  Explanation visible_part{.steps = {}, .exact = whole.exact};
  for (const ExplanationStep& step : whole.steps) {
    ExplanationStep kept{step.title, {}};
    if (step.title == "The amount") {
      for (const auto& [name, value] : step.facts)
        kept.facts.emplace_back(name, strip_total(value));
    } else if (step.title.starts_with("Who shared the ")) {
      for (const auto& [name, value] : step.facts) {
        const bool is_place = name == "seat" || name == "where" || name == "and others";
        const bool is_own = name.ends_with(kThisOne) || names(name);
        kept.facts.emplace_back(is_place || is_own ? name : std::string(kOthers), value);
      }
    } else {
      const auto visible = std::ranges::find(visible_steps(), step.title, &VisibleStep::title);
      if (visible == visible_steps().end()) continue;
      for (const auto& fact : step.facts) {
        const bool is_visible =
            visible->facts.empty() ||
            std::ranges::find(visible->facts, fact.first) != visible->facts.end();
        if (is_visible) kept.facts.push_back(fact);
      }
    }
    visible_part.steps.push_back(std::move(kept));
  }
  return visible_part;
}

}  // namespace pennyweight
