#include "server/api/scoped_queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <any>
#include <chrono>
#include <map>
#include <set>
#include <tuple>

#include "config/config.h"
#include "core/billing_period.h"
#include "core/check.h"
#include "core/hash.h"
#include "core/try.h"
#include "insight/advice/proposal.h"
#include "insight/queries/daily_costs.h"
#include "ledger/store.h"
#include "reporting/queries/run_scan.h"
#include "reporting/unit_cost_jobs.h"
#include "server/api/route_helpers.h"
#include "server/api/scope.h"

namespace pennyweight::api {
namespace {

// How long ago a running holding was last written to the ledger, at most.
constexpr std::chrono::hours kReadingsBack{2};
// How old telemetry may be to count as current.
constexpr std::chrono::minutes kUsageBack{10};
constexpr std::uint64_t kPostingsMax = 50'000;
constexpr std::size_t kHoldingsMax = 200'000;
constexpr std::size_t kUsagesMax = 1'000'000;

// The latest fact of each key, if it still holds.
template <class Fact, class Key>
std::vector<Fact> present(std::vector<Fact> facts, const Key& key, Instant now) {
  std::ranges::stable_sort(facts, [&](const Fact& a, const Fact& b) {
    return std::tuple(key(a), a.from) < std::tuple(key(b), b.from);
  });
  std::vector<Fact> latest;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const bool is_last = i + 1 == facts.size() || key(facts[i + 1]) != key(facts[i]);
    if (is_last && (!facts[i].to || *facts[i].to > now)) latest.push_back(std::move(facts[i]));
  }
  return latest;
}

// The nodes of a holding: those that it names, and those of its GPUs.
std::set<NodeId> nodes_of(const Holding& holding, const std::map<GpuId, NodeId>& card_nodes) {
  std::set<NodeId> nodes;
  if (const auto* named = std::get_if<OnNodes>(&holding.placement)) {
    for (const OnNodes::NodeDevices& part : named->parts) nodes.insert(part.node);
  }
  if (const auto* cards = std::get_if<OnGpus>(&holding.placement)) {
    for (const GpuId& gpu : cards->gpus) {
      const auto at = card_nodes.find(gpu);
      if (at != card_nodes.end()) nodes.insert(at->second);
    }
  }
  return nodes;
}

std::map<GpuId, NodeId> nodes_of_cards(const std::vector<Gpu>& gpus) {
  std::map<GpuId, NodeId> nodes;
  for (const Gpu& gpu : gpus) {
    nodes.emplace(gpu.uuid, gpu.node);
    for (const MigInstance& instance : gpu.mig_instances) nodes.emplace(instance.id, gpu.node);
  }
  return nodes;
}

// The cost of lost attempts; nothing: there are too many postings.
Result<std::optional<std::vector<Money>>> lost_of(Store& store, const SummaryQuery& query,
                                                  const ClusterId& cluster,
                                                  const std::vector<Holding>& holdings) {
  const auto postings = TRY(store.largest_postings(query, kPostingsMax));
  if (postings.size() >= kPostingsMax) return std::nullopt;
  std::optional<Error> failed;
  JobCosts costs([&](const FactId& id) -> std::optional<Holding> {
    auto found = store.find_holding(id);
    if (found) return *std::move(found);
    failed = found.error();
    return std::nullopt;
  });
  for (const Holding& holding : holdings) costs.add(holding);
  for (const Posting& posting : postings) costs.add(cluster, posting);
  if (failed) return std::unexpected(*failed);
  std::vector<Money> lost;
  for (const JobCostReport& report : costs.report()) {
    lost.push_back(report.total.sums(AttemptEnd::kLost).effective);
  }
  return lost;
}

}  // namespace

ScopedQueries::ScopedQueries(const Services& services, const server::Request& request)
    : ScopedQueries(services, std::any_cast<const access::Principal&>(request.principal)) {}

void ScopedQueries::apply_scope(SummaryQuery& query) const {
  query.filters.insert(query.filters.end(), who_.scope.begin(), who_.scope.end());
}

Result<void> ScopedQueries::check_scope_is_exact() const {
  if (selects_whole_workloads(who_.scope, services_.config.policy)) return {};
  return fail(
      ErrorCode::kUnsupported,
      "this can be limited to teams, users and other dimensions of workloads, but your scope "
      "uses other dimensions");
}

void ScopedQueries::convert_to(std::optional<Currency> currency) {
  conversion_.reset();
  if (!currency) return;
  const CurrencyConfig& config = services_.config.currencies;
  conversion_.emplace(
      *currency, [this](const Currency& foreign) { return configured_rates(services_, foreign); },
      RateSearch{.days_valid_max = config.days_valid_max, .pivot = config.pivot});
}

std::optional<Currency> ScopedQueries::currency() const {
  return conversion_ ? std::optional(conversion_->to()) : std::nullopt;
}

std::vector<std::string> ScopedQueries::rates() const {
  return conversion_ ? conversion_->used() : std::vector<std::string>();
}

Result<Money> ScopedQueries::in_currency(const Money& amount, const std::string& month) const {
  return conversion_ ? conversion_->convert(amount, month) : Result<Money>(amount);
}

Result<bool> ScopedQueries::is_foreign(SummaryQuery query) const {
  if (!conversion_) return false;
  query.group_by.clear();
  query.bucket = TimeBucket::kNone;
  const auto rows = TRY(summarise_all(query));
  return std::ranges::any_of(
      rows, [&](const SummaryRow& row) { return row.costs.currency() != conversion_->to(); });
}

Result<std::vector<SummaryRow>> ScopedQueries::summarise_as_billed(SummaryQuery query) const {
  apply_scope(query);
  return summarise_all(query);
}

Result<std::vector<SummaryRow>> ScopedQueries::summarise(SummaryQuery query) const {
  apply_scope(query);
  const bool converts = TRY(is_foreign(query));
  if (!converts) return summarise_all(query);
  query.group_by = converted_group_by(query.group_by);
  const auto rows = TRY(summarise_all(query));
  return conversion_->convert(rows);
}

Result<std::vector<SummaryRow>> ScopedQueries::summarise_all(const SummaryQuery& query) const {
  auto from_rollup = TRY(services_.rollup.summarise(query));
  if (from_rollup) return *std::move(from_rollup);
  std::vector<SummaryRow> rows;
  TRY(services_.ledger([&](Store& store) -> Result<void> {
    auto found = store.summarise(query);
    if (!found) return std::unexpected(found.error());
    rows = *std::move(found);
    return {};
  }));
  return rows;
}

Result<std::optional<std::chrono::sys_days>> ScopedQueries::last_day(
    const std::string& month) const {
  SummaryQuery query;
  query.bucket = TimeBucket::kDay;
  query.filters = {{"month", {month}, false}};
  const auto rows = TRY(summarise_all(query));
  std::optional<std::chrono::sys_days> last;
  for (const SummaryRow& row : rows) last = std::max(last, row.bucket);
  return last;
}

Result<std::optional<Date>> ScopedQueries::last_complete_day(Date today) const {
  return pennyweight::last_complete_day(
      today, [this](const SummaryQuery& query) { return summarise_all(query); });
}

Result<ScopedQueries::Counted> ScopedQueries::summarise(SummaryQuery query,
                                                        std::uint64_t rows_max) const {
  using rollup::PageRequest;
  if (!query.group_by.empty() && rows_max > 0) {
    auto from_rollup = TRY(
        page(query, {.order = PageRequest::Order::kKey, .count = rows_max, .all_or_none = true}));
    if (from_rollup) return Counted{std::move(from_rollup->rows), from_rollup->all};
  }
  auto rows = TRY(summarise(std::move(query)));
  const std::uint64_t all = rows.size();
  if (all > rows_max) rows.clear();
  return Counted{std::move(rows), all};
}

Result<std::optional<rollup::TopOwners>> ScopedQueries::owners(
    SummaryQuery query, const rollup::OwnersRequest& asked) const {
  apply_scope(query);
  const bool converts = TRY(is_foreign(query));
  if (converts) return std::nullopt;
  return services_.rollup.owners(query, asked);
}

Result<std::optional<rollup::RowPage>> ScopedQueries::page(SummaryQuery query,
                                                           const rollup::PageRequest& asked) const {
  apply_scope(query);
  const bool converts = TRY(is_foreign(query));
  if (converts) return std::nullopt;
  return services_.rollup.page(query, asked);
}

Result<std::vector<rollup::Rollup::Value>> ScopedQueries::values_of(SummaryQuery query,
                                                                    const std::string& dimension,
                                                                    const std::string& prefix,
                                                                    std::size_t at_most) const {
  SummaryQuery narrowed = query;
  apply_scope(narrowed);
  const bool converts = TRY(is_foreign(narrowed));
  if (!converts) {
    auto from_rollup = services_.rollup.values_of(narrowed, dimension, prefix, at_most);
    if (!from_rollup || !from_rollup->empty()) return from_rollup;
  }
  // No values, or the rollup lacks the dimension: ask the ledger.
  query.bucket = TimeBucket::kNone;
  query.group_by = {dimension};
  const auto rows = TRY(summarise(std::move(query)));
  std::vector<rollup::Rollup::Value> values;
  for (const SummaryRow& row : rows) {
    if (row.keys[0].starts_with(prefix)) values.push_back({row.keys[0], row.costs.effective});
  }
  std::ranges::stable_sort(values, std::ranges::greater(), [](const rollup::Rollup::Value& value) {
    return value.effective.ticks();
  });
  if (values.size() > at_most) {
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(at_most), values.end());
  }
  return values;
}

Result<std::vector<Posting>> ScopedQueries::postings(SummaryQuery query,
                                                     std::uint64_t at_most) const {
  apply_scope(query);
  std::vector<Posting> found;
  TRY(services_.ledger([&](Store& store) -> Result<void> {
    auto some = store.largest_postings(query, at_most);
    if (!some) return std::unexpected(some.error());
    found = *std::move(some);
    return {};
  }));
  return found;
}

Result<ExplainResult> ScopedQueries::explain(ExplainQuery query) const {
  query.scope = who_.scope;
  std::optional<ExplainResult> answer;
  TRY(services_.ledger([&](Store& store) -> Result<void> {
    auto postings = find_postings(store, query, services_.config.policy);
    if (!postings) return std::unexpected(postings.error());
    auto found =
        explain_postings(store, query, *std::move(postings), services_.config, services_.catalog);
    if (!found) return std::unexpected(found.error());
    answer = *std::move(found);
    return {};
  }));
  CHECK(answer.has_value(), "the ledger was asked");
  return *std::move(answer);
}

Result<ExplainedSum> ScopedQueries::explain_sum(const ExplainQuery& query) const {
  return pennyweight::explain_sum(
      query, services_.config.policy,
      [this](const SummaryQuery& one) { return summarise_as_billed(one); },
      conversion_ ? &*conversion_ : nullptr);
}

Result<SpreadBucket> ScopedQueries::bucket(const std::string& transfer) const {
  if (is_scoped()) {
    return fail(ErrorCode::kNotFound, "what a spread rule has moved is not in your scope");
  }
  std::optional<SpreadBucket> answer;
  TRY(services_.ledger([&](Store& store) -> Result<void> {
    auto found = find_bucket(store, transfer);
    if (!found) return std::unexpected(found.error());
    answer = *std::move(found);
    return {};
  }));
  CHECK(answer.has_value(), "the ledger was asked");
  return *std::move(answer);
}

Result<std::vector<Table>> ScopedQueries::units(UnitCostQuery query) const {
  TRY(check_scope_is_exact());
  query.scope = who_.scope;
  std::vector<Table> tables;
  TRY(services_.ledger([&](Store& store) -> Result<void> {
    auto found = query_unit_costs(store, query, services_.config.policy);
    if (!found) return std::unexpected(found.error());
    tables = *std::move(found);
    return {};
  }));
  return tables;
}

Result<Table> ScopedQueries::activity(ActivityQuery query) const {
  TRY(check_scope_is_exact());
  query.scope = who_.scope;
  return ask_ledger(services_, [&](Store& store) {
    return query_activity(store, query, services_.config.policy, services_.clock.now());
  });
}

Result<Table> ScopedQueries::usage(UsageQuery query) const {
  TRY(check_scope_is_exact());
  query.scope = who_.scope;
  return ask_ledger(services_, [&](Store& store) {
    return query_usage(store, query, services_.config.policy, services_.clock.now());
  });
}

Result<CoverageResult> ScopedQueries::coverage(CoverageQuery query) const {
  TRY(check_scope_is_exact());
  query.scope = who_.scope;
  CoverageResult answer;
  TRY(services_.ledger([&](Store& store) -> Result<void> {
    // Scopes do not hide which months have data.
    TRY(check_has_charges(store, query.month));
    auto found = query_coverage(store, services_.catalog, query);
    if (!found) return std::unexpected(found.error());
    answer = *std::move(found);
    return {};
  }));
  if (!conversion_) return answer;
  if (query.month.empty()) {
    return fail(
        ErrorCode::kBadValue,
        "coverage of all months can't be converted, since each month has a rate of its own; "
        "choose a month, or ask for currency=original");
  }
  return convert_coverage(std::move(answer), conversion_->to(), [&](const Money& amount) {
    return conversion_->convert(amount, query.month);
  });
}

Result<AdviceResult> ScopedQueries::advice(const AdviceQuery& query) const {
  TRY(check_scope_is_exact());
  AdviceQuery asked = query;
  if (is_scoped()) {  // a refusal would name the clusters and teams of others
    asked.cluster.clear();
    asked.knows_teams = false;
  }
  AdviceResult answer;
  TRY(services_.ledger([&](Store& store) -> Result<void> {
    auto found = query_advice(store, asked,
                              {.policy = services_.config.policy,
                               .catalog = services_.catalog,
                               .join_rules = services_.config.join_rules,
                               .cache = services_.advice_cache.get(),
                               .clusters = services_.config.clusters});
    if (!found) return std::unexpected(found.error());
    answer = *std::move(found);
    return {};
  }));
  if (!is_scoped()) return answer;
  std::erase_if(answer.proposals, [&](const advising::Proposal& proposal) {
    const bool is_elsewhere = !query.cluster.empty() && proposal.cluster.text() != query.cluster;
    return is_elsewhere || proposal.workload.empty() ||
           !api::sees(who_.scope, proposal.cluster, proposal.workload, proposal.owner);
  });
  std::erase_if(answer.lives, [&](const auto& one) { return !sees_step(*one.second.last()); });
  answer.gaps.clear();
  answer.dismissed = 0;
  return answer;
}

bool ScopedQueries::sees_step(const AdviceStep& step) const {
  if (!is_scoped()) return true;
  return !step.workload.empty() &&
         api::sees(who_.scope, ClusterId(step.cluster), WorkloadId(step.workload), step.owner);
}

Result<std::map<std::string, advising::AdviceLife>> ScopedQueries::advice_lives(Date today) const {
  TRY(check_scope_is_exact());
  std::map<std::string, advising::AdviceLife> lives;
  TRY(services_.ledger([&](Store& store) -> Result<void> {
    const auto steps = TRY(query_advice_steps(store));
    lives = advising::lives_of(steps, today);
    return {};
  }));
  std::erase_if(lives, [&](const auto& one) { return !sees_step(*one.second.last()); });
  return lives;
}

Result<AdviceStep> ScopedQueries::prepare_advice_step(const AdviceDecision& decision,
                                                      const AdviceQuery& query) const {
  TRY(check_scope_is_exact());
  std::optional<AdviceStep> step;
  TRY(services_.ledger([&](Store& store) -> Result<void> {
    auto prepared =
        pennyweight::prepare_advice_step(store, decision, query,
                                         {.policy = services_.config.policy,
                                          .catalog = services_.catalog,
                                          .join_rules = services_.config.join_rules,
                                          .cache = services_.advice_cache.get(),
                                          .clusters = services_.config.clusters},
                                         [&](const AdviceStep& one) { return sees_step(one); });
    if (!prepared) return std::unexpected(prepared.error());
    step = *std::move(prepared);
    return {};
  }));
  return *std::move(step);
}

Result<WorkloadFacts> ScopedQueries::workload(const ClusterId& cluster, const WorkloadId& workload,
                                              const std::string& month) const {
  const auto during = TRY(around_month(month));
  SummaryQuery query;
  query.filters = {{"cluster", {cluster.text()}, false},
                   {"workload", {workload.text()}, false},
                   {"month", {month}, false}};
  apply_scope(query);
  WorkloadFacts facts;
  TRY(services_.ledger([&](Store& store) -> Result<void> {
    auto gpus = store.gpus();
    if (!gpus) return std::unexpected(gpus.error());
    std::erase_if(*gpus, [&](const Gpu& gpu) { return gpu.cluster != cluster; });
    facts.gpus = *std::move(gpus);
    const auto held = store.scan_holdings(cluster, during, [&](std::span<const Holding> batch) {
      for (const Holding& holding : batch) {
        if (holding.workload == workload) facts.holdings.push_back(holding);
      }
      return true;
    });
    if (!held) return held;
    auto lost = lost_of(store, query, cluster, facts.holdings);
    if (!lost) return std::unexpected(lost.error());
    facts.lost = *std::move(lost);
    return {};
  }));
  return facts;
}

std::shared_ptr<const LiveView> ScopedQueries::live() const {
  const auto view = services_.live ? services_.live() : nullptr;
  if (view == nullptr || !is_scoped()) return view;
  return std::make_shared<const LiveView>(restrict_to_scope(*view, who_.scope));
}

bool ScopedQueries::sees(const ClusterId& cluster, const LiveShare& share) const {
  return api::sees(who_.scope, cluster, share.workload, share.dimensions);
}

Result<std::map<std::string, std::chrono::sys_days>> ScopedQueries::last_held() const {
  SummaryQuery query;
  query.filters = {{"kind", {"used", "held_idle"}, false}};
  query.group_by = {"cluster", "month"};
  const auto months = TRY(summarise_as_billed(query));
  std::map<std::string, std::string> newest;
  std::set<std::string> shown;
  for (const SummaryRow& row : months)
    newest[row.keys[0]] = std::max(newest[row.keys[0]], row.keys[1]);
  for (const auto& [cluster, month] : newest) shown.insert(month);
  std::map<std::string, std::chrono::sys_days> last;
  if (shown.empty()) return last;
  query.filters.push_back({"month", {shown.begin(), shown.end()}, false});
  query.group_by = {"cluster"};
  query.bucket = TimeBucket::kDay;
  const auto days = TRY(summarise_as_billed(query));
  for (const SummaryRow& row : days) {
    const auto [at, is_new] = last.try_emplace(row.keys[0], *row.bucket);
    at->second = std::max(at->second, *row.bucket);
  }
  return last;
}

Result<FleetFacts> ScopedQueries::fleet(const std::string& cluster) const {
  const Instant now = services_.clock.now();
  FleetFacts facts;
  facts.view = services_.live ? services_.live() : nullptr;
  TRY(services_.ledger([&](Store& store) -> Result<void> {
    auto nodes = store.nodes();
    if (!nodes) return std::unexpected(nodes.error());
    auto gpus = store.gpus();
    if (!gpus) return std::unexpected(gpus.error());
    const auto is_other = [&](const auto& fact) {
      return !cluster.empty() && fact.cluster.text() != cluster;
    };
    std::erase_if(*nodes, is_other);
    std::erase_if(*gpus, is_other);
    facts.nodes = present(
        *std::move(nodes), [](const Node& node) { return std::tuple(node.cluster, node.name); },
        now);
    facts.gpus = present(
        *std::move(gpus), [](const Gpu& gpu) { return std::tuple(gpu.cluster, gpu.uuid); }, now);
    std::set<ClusterId> clusters;
    for (const Node& node : facts.nodes) clusters.insert(node.cluster);
    for (const ClusterId& one : clusters) {
      const auto held = store.scan_holdings(one, Interval(now - kReadingsBack, now),
                                            [&](std::span<const Holding> batch) {
                                              for (const Holding& holding : batch) {
                                                if (!holding.ended)
                                                  facts.holdings.push_back(holding);
                                              }
                                              return facts.holdings.size() < kHoldingsMax;
                                            });
      if (!held) return held;
      const auto scanned =
          store.scan_usage(one, Interval(now - kUsageBack, now), UsageDetail::kAll,
                           [&](std::span<const Usage> batch) {
                             facts.usages.insert(facts.usages.end(), batch.begin(), batch.end());
                             return facts.usages.size() < kUsagesMax;
                           });
      if (!scanned) return scanned;
      if (facts.holdings.size() >= kHoldingsMax || facts.usages.size() >= kUsagesMax) {
        return fail(ErrorCode::kUnsupported,
                    "too many workloads run for one answer; ask for one cluster");
      }
    }
    return {};
  }));
  std::ranges::sort(facts.gpus, {}, [](const Gpu& gpu) {
    return std::tuple(gpu.cluster, gpu.node, gpu.index, gpu.uuid);
  });
  if (!is_scoped()) return facts;

  // Only nodes with a workload in the scope.
  std::set<std::pair<ClusterId, NodeId>> own;
  std::set<std::pair<ClusterId, WorkloadId>> named;
  if (const auto view = live()) {
    for (const auto& [id, cluster_view] : view->clusters) {
      for (const LiveShare& share : cluster_view.recent.shares) {
        if (!share.running) continue;
        named.emplace(id, share.workload);
        for (const NodeId& node : share.nodes) own.emplace(id, node);
      }
    }
  }
  const std::map<GpuId, NodeId> card_nodes = nodes_of_cards(facts.gpus);
  for (const Holding& holding : facts.holdings) {
    if (!named.contains({holding.cluster, holding.workload})) continue;
    for (const NodeId& node : nodes_of(holding, card_nodes)) own.emplace(holding.cluster, node);
  }
  std::erase_if(facts.nodes,
                [&](const Node& node) { return !own.contains({node.cluster, node.name}); });
  std::erase_if(facts.gpus, [&](const Gpu& gpu) { return !own.contains({gpu.cluster, gpu.node}); });
  return facts;
}

std::string ScopedQueries::etag(const server::Request& request) const {
  // Converted amounts depend on a file of rates that may change at any time.
  if (conversion_) return {};
  const auto version = services_.rollup.version();
  if (!version) return {};
  Fingerprint print;
  print.add(static_cast<std::int64_t>(*version)).add(services_.version);
  print.add(request.path).add(request.accept);
  for (const auto& [name, value] : request.query) print.add(name).add(value);
  print.add_absent();
  for (const SummaryFilter& part : who_.scope) {
    print.add(part.dimension);
    for (const std::string& value : part.values) print.add(value);
    print.add_absent();
  }
  return '"' + to_text(print.hash()) + '"';
}

bool client_has(const server::Request& request, const std::string& etag) {
  return !etag.empty() && request.header("if-none-match").find(etag) != std::string::npos;
}

Result<ExchangeRates> configured_rates(const Services& services, const Currency& foreign) {
  if (services.rates) return services.rates();
  return fail(ErrorCode::kUnsupported,
              fmt::format("there are costs in {}, but no exchange rates are configured "
                          "(currencies.rates); ask for currency=original",
                          foreign.text()));
}

server::Response not_modified(const std::string& etag) {
  server::Response response{.content_type = "application/json", .body = "{}\n"};
  response.etag = etag;
  return response;
}

}  // namespace pennyweight::api
