#include "reporting/queries/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
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

// What find_postings() says where none matches.
Error no_postings(const ExplainQuery& params) {
  if (params.skipped > 0) return {ErrorCode::kNotFound, "there are no further postings"};
  if (params.whole) return {ErrorCode::kNotFound, "no posting matches the filters and dates"};
  return {
      ErrorCode::kNotFound,
      fmt::format(
          "no posting has {} = '{}'{}; 'pennyweight report --by {}' shows what there is",
          fmt::join(params.by, ","), params.key,
          params.filters.empty() ? "" : fmt::format(" with {}", fmt::join(params.filters, " and ")),
          fmt::join(params.by, ","))};
}

// The largest postings behind a row of a report, or all of its rows.
Result<std::vector<Posting>> find_row_postings(Store& store, const ExplainQuery& params,
                                               const Policy& policy) {
  SummaryQuery query = TRY(explained_selection(params, policy));
  query.filters.insert(query.filters.end(), params.scope.begin(), params.scope.end());
  auto postings = store.largest_postings(query, params.top, params.skipped);
  if (postings && postings->empty()) return std::unexpected(no_postings(params));
  return postings;
}

Result<std::vector<Posting>> find_scoped_charge_postings(Store& store, const FactId& charge,
                                                         const ExplainQuery& params) {
  SummaryQuery query;
  query.filters = params.scope;
  query.filters.push_back({"charge", {to_text(charge)}, false});
  auto postings = store.largest_postings(query, params.top, params.skipped);
  if (postings && postings->empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no bill line {}", params.charge));
  }
  return postings;
}

// All postings of a charge, the largest first.
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
  const auto count = [&](std::uint64_t wanted) {
    return static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(wanted, postings->size()));
  };
  postings->erase(postings->begin(), postings->begin() + count(params.skipped));
  postings->erase(postings->begin() + count(params.top), postings->end());
  if (postings->empty()) return std::unexpected(no_postings(params));
  return postings;
}

std::string day_text(std::chrono::sys_days day) { return to_text(Instant(day)).substr(0, 10); }

Table posting_table(const std::vector<Posting>& postings, CostColumn cost,
                    const std::string& cost_name) {
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
      {cost_name + "_cost", fmt::format("{} {}", cost_name, currency.text()), ColumnKind::kMoney},
      {"gpu_hours", "GPU-hours", ColumnKind::kGpuHours},
      {"charge", "charge", ColumnKind::kId}};
  for (const Posting& posting : postings) {
    if (posting.costs.currency() != currency) continue;
    table.rows.push_back({day_text(posting.day), posting.node.text(), owner_text(posting.workload),
                          std::string(to_text(posting.kind)),
                          std::string(to_text(posting.component)), select_cost(posting.costs, cost),
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

// The run that made a transfer: the current one of the only scope that has it.
Result<Run> find_transfer_run(Store& store, const FactId& transfer) {
  SummaryQuery query;
  query.group_by = {"cluster", "month"};
  query.filters = {{"charge", {to_text(transfer)}, false}};
  const auto scopes = TRY(store.summarise(query));
  const auto runs = TRY(store.runs());
  for (const SummaryRow& row : scopes) {
    for (const Run& run : runs) {
      if (run.current && run.scope == Scope{ClusterId(row.keys[0]), row.keys[1]}) return run;
    }
  }
  return fail(ErrorCode::kStore, "the bill line of a posting is not in the ledger");
}

Result<Explanation> explain_transfer_posting(Store& store, const Posting& posting,
                                             std::span<const Posting> postings,
                                             std::size_t chosen) {
  const Run run = TRY(find_transfer_run(store, posting.charge));
  const auto month = TRY(BillingPeriod::parse(run.scope.month, TimeZone::utc()));
  // One more day on either side: days of other time zones reach beyond the month.
  const Interval wide(month.to_interval().begin() - std::chrono::hours(24),
                      month.to_interval().end() + std::chrono::hours(24));
  const auto policy = TRY(parse_policy_text(run.policy));
  const auto corrections = TRY(store.corrections(run.scope.cluster, wide));
  return explain_transfer({.postings = postings,
                           .chosen = chosen,
                           .run = run,
                           .policy = policy,
                           .corrections = corrections});
}

// The posting to explain; nothing where there are not so many.
Result<std::optional<Posting>> find_chosen(Store& store, const ExplainQuery& params,
                                           const std::vector<Posting>& listed,
                                           const Policy& policy) {
  if (listed.empty()) return std::nullopt;
  if (!params.posting) return listed.front();
  if (*params.posting >= params.skipped && *params.posting - params.skipped < listed.size()) {
    return listed[static_cast<std::size_t>(*params.posting - params.skipped)];
  }
  ExplainQuery other = params;
  other.skipped = *params.posting;
  other.top = 1;
  const auto found = TRY(find_postings(store, other, policy));
  return found.front();
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
      // Its moments begin and end with those of others on the same GPU; the sums don't.
      {"Moment by moment", {"observed", "charged: unit-ms x weights", "of which used"}},
      // Not the share, nor the weights of all: the amount divided by the share is the whole line.
      {"How much it weighs",
       {"unit", "one device", "requested over the interval", "of which here", "posted here",
        "weight"}},
      {"What is spread", {"kind", "component", "interval", "node"}},
      {"The rule", {}},
      {"The posting", {}},
  };
  return kVisible;
}

constexpr std::string_view kThisOne = " (this one)";

// Removes the total from "… of …": scoped users may not see what all owners pay together.
std::string strip_total(const std::string& value) {
  const std::size_t of = value.find(" of ");
  return of == std::string::npos ? value : value.substr(0, of);
}

}  // namespace

Result<CostColumn> parse_explained_cost(const std::string& cost) {
  if (cost == "effective") return CostColumn::kEffective;
  if (cost == "billed") return CostColumn::kBilled;
  if (cost == "list") return CostColumn::kList;
  if (cost == "contracted") return CostColumn::kContracted;
  return fail(ErrorCode::kBadValue,
              fmt::format("'{}' is not a cost; use effective, billed, list or contracted", cost));
}

Result<SummaryQuery> explained_selection(const ExplainQuery& params, const Policy& policy) {
  SummaryQuery query;
  query.as_of = params.as_of;
  if (!params.charge.empty()) {
    query.filters = {{"charge", {params.charge}, false}};
    return query;
  }
  const auto dimensions = TRY(parse_dimensions(params.by, policy));
  TRY(apply_dates(params.dates, query));
  if (!params.whole) {
    const std::vector<std::string> keys =
        dimensions.size() == 1 ? std::vector{params.key} : split_list(params.key);
    if (keys.size() != dimensions.size()) {
      return fail(ErrorCode::kBadValue,
                  fmt::format("the key needs a value for each of the {} dimensions, but has {}",
                              dimensions.size(), keys.size()));
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto filters = row_filters(dimensions[i], keys[i]);
      query.filters.insert(query.filters.end(), filters.begin(), filters.end());
    }
  }
  for (const std::string& text : params.filters) {
    const auto filters = TRY(parse_filter(text, policy));
    query.filters.insert(query.filters.end(), filters.begin(), filters.end());
  }
  return query;
}

Result<SpreadBucket> find_bucket(Store& store, const std::string& transfer) {
  const auto id = parse_hash(transfer);
  if (!id) {
    return fail(
        ErrorCode::kBadValue,
        fmt::format("'{}' is not a transfer's id, which has 32 hexadecimal digits", transfer));
  }
  const auto moved = TRY(store.postings_of(FactId{*id}));
  const auto none = fail(ErrorCode::kNotFound,
                         fmt::format("{} is not a cost that a spread rule has moved", transfer));
  if (moved.empty()) return none;
  const auto charge = TRY(store.find_charge(FactId{*id}));
  if (charge) return none;
  const Run run = TRY(find_transfer_run(store, FactId{*id}));
  const auto policy = TRY(parse_policy_text(run.policy));
  const Posting& first = moved.front();
  SummaryQuery query;
  query.first_day = query.last_day = first.day;
  query.filters = {{"cluster", {run.scope.cluster.text()}, false},
                   {"month", {run.scope.month}, false},
                   {"kind", {std::string(to_text(first.kind))}, false},
                   {"component", {std::string(to_text(first.component))}, false},
                   {"currency", {first.costs.currency().text()}, false}};
  const auto candidates =
      TRY(store.largest_postings(query, std::numeric_limits<std::int64_t>::max()));
  std::set<FactId> ids;
  for (const Posting& posting : candidates) ids.insert(posting.charge);
  std::vector<Charge> charges;
  TRY(store.scan_charges(run.scope.month, [&](std::span<const Charge> some) {
    for (const Charge& one : some) {
      if (ids.contains(one.id)) charges.push_back(one);
    }
    return true;
  }));
  const auto nodes = TRY(store.nodes());
  SpreadBucket bucket{.month = run.scope.month, .postings = {}};
  bucket.postings = bucket_of_transfer({.cluster = run.scope.cluster,
                                        .month = run.scope.month,
                                        .postings = candidates,
                                        .dimensions = {},
                                        .nodes = keep_cluster(nodes, run.scope.cluster),
                                        .charges = charges,
                                        .policy = policy},
                                       FactId{*id});
  if (bucket.postings.empty()) return none;
  return bucket;
}

Result<std::vector<Posting>> find_postings(Store& store, const ExplainQuery& params,
                                           const Policy& policy) {
  return params.charge.empty() ? find_row_postings(store, params, policy)
                               : find_charge_postings(store, params);
}

Result<ExplainResult> explain_postings(Store& store, const ExplainQuery& params,
                                       std::vector<Posting> postings, const Config& config,
                                       const Catalog& catalog) {
  ExplainResult answer{.postings = std::move(postings),
                       .table = {},
                       .chosen = {},
                       .explanation = {},
                       .bucket = {},
                       .warnings = {}};
  const CostColumn cost = TRY(parse_explained_cost(params.cost));
  answer.table = posting_table(answer.postings, cost, params.cost);
  const auto chosen = TRY(find_chosen(store, params, answer.postings, config.policy));
  answer.chosen = chosen;
  const Posting& first = *chosen;
  if (params.as_of) {
    answer.warnings.emplace_back(
        "these are postings as of an earlier time; only current ones are calculated again");
    return answer;
  }
  auto explanation = TRY(explain_posting(store, first, config, catalog, answer.warnings));
  answer.explanation = std::move(explanation);
  const auto is_spread = [](const ExplanationStep& step) { return step.title == "What is spread"; };
  if (params.scope.empty()) {
    if (std::ranges::any_of(answer.explanation.steps, is_spread)) {
      answer.bucket = to_text(first.charge);
    }
    return answer;
  }
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
        const bool is_place = name == "seat" || name == "where";
        const bool is_own = name.ends_with(kThisOne) || names(name);
        if (is_place || is_own) kept.facts.emplace_back(name, value);
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
