#include "api/desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <any>
#include <chrono>
#include <map>
#include <set>
#include <tuple>

#include "api/scope.h"
#include "config/config.h"
#include "core/billing_period.h"
#include "core/check.h"
#include "core/hash.h"
#include "ledger/store.h"
#include "questions/run_scan.h"
#include "report/unit_cost_jobs.h"

namespace pennyweight::api {
namespace {

// How far back a holding that goes on was last told to the ledger.
constexpr std::chrono::hours kReadingsBack{2};
// What of telemetry is "now".
constexpr std::chrono::minutes kUsageBack{10};
constexpr std::uint64_t kPostingsMax = 50'000;
constexpr std::size_t kHoldingsMax = 200'000;
constexpr std::size_t kUsagesMax = 1'000'000;

// The latest fact of each, where it is still there.
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

// The nodes on which a holding may be: those that it names, and those of its cards.
std::set<NodeId> nodes_of(const Holding& holding, const std::map<GpuId, NodeId>& card_nodes) {
  std::set<NodeId> nodes;
  if (const auto* named = std::get_if<OnNodes>(&holding.placement)) {
    for (const OnNodes::Part& part : named->parts) nodes.insert(part.node);
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

// What attempts that were lost cost; nothing: there are too many postings to tell.
Result<std::optional<std::vector<Money>>> lost_of(Store& store, const SummaryQuery& query,
                                                  const ClusterId& cluster,
                                                  const std::vector<Holding>& holdings) {
  const auto postings = store.largest_postings(query, kPostingsMax);
  if (!postings) return std::unexpected(postings.error());
  if (postings->size() >= kPostingsMax) return std::nullopt;
  std::optional<Error> failed;
  JobCosts costs([&](const FactId& id) -> std::optional<Holding> {
    auto found = store.find_holding(id);
    if (found) return *std::move(found);
    failed = found.error();
    return std::nullopt;
  });
  for (const Holding& holding : holdings) costs.add(holding);
  for (const Posting& posting : *postings) costs.add(cluster, posting);
  if (failed) return std::unexpected(*failed);
  std::vector<Money> lost;
  for (const JobCostReport& report : costs.report()) {
    lost.push_back(report.total.of(AttemptEnd::kLost).effective);
  }
  return lost;
}

}  // namespace

Desk::Desk(const Parts& parts, const server::Request& request)
    : Desk(parts, std::any_cast<const access::Principal&>(request.who)) {}

void Desk::narrow(SummaryQuery& query) const {
  query.filters.insert(query.filters.end(), who_.scope.begin(), who_.scope.end());
}

Result<void> Desk::check_cut() const {
  if (is_of_workloads(who_.scope, parts_.config.policy)) return {};
  return fail(ErrorCode::kUnsupported,
              "this can be cut to teams, users and other dimensions of workloads, and your scope "
              "is of another kind");
}

Result<std::vector<SummaryRow>> Desk::summarise(SummaryQuery query) const {
  narrow(query);
  return summarise_all(query);
}

Result<std::vector<SummaryRow>> Desk::summarise_all(const SummaryQuery& query) const {
  auto kept = parts_.rollup.summarise(query);
  if (!kept) return std::unexpected(kept.error());
  if (*kept) return **std::move(kept);
  std::vector<SummaryRow> rows;
  const auto asked = parts_.ledger([&](Store& store) -> Result<void> {
    auto found = store.summarise(query);
    if (!found) return std::unexpected(found.error());
    rows = *std::move(found);
    return {};
  });
  if (!asked) return std::unexpected(asked.error());
  return rows;
}

Result<std::optional<std::chrono::sys_days>> Desk::last_day(const std::string& month) const {
  SummaryQuery query;
  query.bucket = TimeBucket::kDay;
  query.filters = {{"month", {month}, false}};
  const auto rows = summarise_all(query);
  if (!rows) return std::unexpected(rows.error());
  std::optional<std::chrono::sys_days> last;
  for (const SummaryRow& row : *rows) last = std::max(last, row.bucket);
  return last;
}

Result<Desk::Counted> Desk::summarise(SummaryQuery query, std::uint64_t rows_max) const {
  using rollup::PageAsked;
  if (!query.group_by.empty() && rows_max > 0) {
    auto kept =
        page(query, {.order = PageAsked::Order::kKey, .count = rows_max, .all_or_none = true});
    if (!kept) return std::unexpected(kept.error());
    if (*kept) return Counted{std::move((*kept)->rows), (*kept)->all};
  }
  auto rows = summarise(std::move(query));
  if (!rows) return std::unexpected(rows.error());
  const std::uint64_t all = rows->size();
  if (all > rows_max) rows->clear();
  return Counted{*std::move(rows), all};
}

Result<std::optional<rollup::Owners>> Desk::owners(SummaryQuery query,
                                                   const rollup::OwnersAsked& asked) const {
  narrow(query);
  return parts_.rollup.owners(query, asked);
}

Result<std::optional<rollup::PageOfRows>> Desk::page(SummaryQuery query,
                                                     const rollup::PageAsked& asked) const {
  narrow(query);
  return parts_.rollup.page(query, asked);
}

Result<std::vector<rollup::Rollup::Value>> Desk::values_of(SummaryQuery query,
                                                           const std::string& dimension,
                                                           const std::string& prefix,
                                                           std::size_t at_most) const {
  SummaryQuery narrowed = query;
  narrow(narrowed);
  auto kept = parts_.rollup.values_of(narrowed, dimension, prefix, at_most);
  if (!kept || !kept->empty()) return kept;
  // None, or it does not keep the dimension: the ledger has the last word.
  query.bucket = TimeBucket::kNone;
  query.group_by = {dimension};
  const auto rows = summarise(std::move(query));
  if (!rows) return std::unexpected(rows.error());
  std::vector<rollup::Rollup::Value> values;
  for (const SummaryRow& row : *rows) {
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

Result<ExplainAnswer> Desk::explain(ExplainQuestion question) const {
  question.scope = who_.scope;
  std::optional<ExplainAnswer> answer;
  const auto asked = parts_.ledger([&](Store& store) -> Result<void> {
    auto postings = find_postings(store, question, parts_.config.policy);
    if (!postings) return std::unexpected(postings.error());
    auto told = ask_explain(store, question, *std::move(postings), parts_.config, parts_.catalog);
    if (!told) return std::unexpected(told.error());
    answer = *std::move(told);
    return {};
  });
  if (!asked) return std::unexpected(asked.error());
  CHECK(answer.has_value(), "the ledger was asked");
  return *std::move(answer);
}

Result<std::vector<Table>> Desk::units(UnitQuestion question) const {
  if (const auto can = check_cut(); !can) return std::unexpected(can.error());
  question.scope = who_.scope;
  std::vector<Table> tables;
  const auto asked = parts_.ledger([&](Store& store) -> Result<void> {
    auto found = ask_units(store, question, parts_.config.policy);
    if (!found) return std::unexpected(found.error());
    tables = *std::move(found);
    return {};
  });
  if (!asked) return std::unexpected(asked.error());
  return tables;
}

Result<CoverageAnswer> Desk::coverage(CoverageQuestion question) const {
  if (const auto can = check_cut(); !can) return std::unexpected(can.error());
  question.scope = who_.scope;
  CoverageAnswer answer;
  const auto asked = parts_.ledger([&](Store& store) -> Result<void> {
    // Which months there are is nothing that a scope hides: they are those of the server.
    if (const auto has = check_has_lines(store, question.month); !has) return has;
    auto found = cover(store, parts_.catalog, question);
    if (!found) return std::unexpected(found.error());
    answer = *std::move(found);
    return {};
  });
  if (!asked) return std::unexpected(asked.error());
  return answer;
}

Result<WorkloadFacts> Desk::workload(const ClusterId& cluster, const WorkloadId& workload,
                                     const std::string& month) const {
  const auto during = around_month(month);
  if (!during) return std::unexpected(during.error());
  SummaryQuery query;
  query.filters = {{"cluster", {cluster.text()}, false},
                   {"workload", {workload.text()}, false},
                   {"month", {month}, false}};
  narrow(query);
  WorkloadFacts facts;
  const auto asked = parts_.ledger([&](Store& store) -> Result<void> {
    auto gpus = store.gpus();
    if (!gpus) return std::unexpected(gpus.error());
    std::erase_if(*gpus, [&](const Gpu& gpu) { return gpu.cluster != cluster; });
    facts.gpus = *std::move(gpus);
    const auto held = store.scan_holdings(cluster, *during, [&](std::span<const Holding> batch) {
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
  });
  if (!asked) return std::unexpected(asked.error());
  return facts;
}

std::shared_ptr<const LiveView> Desk::live() const {
  const auto view = parts_.live ? parts_.live() : nullptr;
  if (view == nullptr || !is_scoped()) return view;
  return std::make_shared<const LiveView>(cut_to_scope(*view, who_.scope));
}

bool Desk::sees(const ClusterId& cluster, const LiveShare& share) const {
  return api::sees(who_.scope, cluster, share.workload, share.dimensions);
}

Result<FleetFacts> Desk::fleet(const std::string& cluster) const {
  const Instant now = parts_.clock.now();
  FleetFacts facts;
  facts.view = parts_.live ? parts_.live() : nullptr;
  const auto asked = parts_.ledger([&](Store& store) -> Result<void> {
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
      const auto seen =
          store.scan_usage(one, Interval(now - kUsageBack, now), UsageDetail::kAll,
                           [&](std::span<const Usage> batch) {
                             facts.usages.insert(facts.usages.end(), batch.begin(), batch.end());
                             return facts.usages.size() < kUsagesMax;
                           });
      if (!seen) return seen;
      if (facts.holdings.size() >= kHoldingsMax || facts.usages.size() >= kUsagesMax) {
        return fail(ErrorCode::kUnsupported,
                    "more runs there than one answer can tell; ask for one cluster");
      }
    }
    return {};
  });
  if (!asked) return std::unexpected(asked.error());
  std::ranges::sort(facts.gpus, {}, [](const Gpu& gpu) {
    return std::tuple(gpu.cluster, gpu.node, gpu.index, gpu.uuid);
  });
  if (!is_scoped()) return facts;

  // Only nodes on which one of the scope's workloads is.
  std::set<std::pair<ClusterId, NodeId>> own;
  std::set<std::pair<ClusterId, WorkloadId>> named;
  if (const auto view = live()) {
    for (const auto& [id, looked] : view->clusters) {
      for (const LiveShare& share : looked.recent.shares) {
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

std::string Desk::etag(const server::Request& request) const {
  Fingerprint print;
  print.add(static_cast<std::int64_t>(parts_.rollup.version())).add(parts_.version);
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

bool has_already(const server::Request& request, const std::string& etag) {
  return !etag.empty() && request.header("if-none-match").find(etag) != std::string::npos;
}

server::Response unchanged(const std::string& etag) {
  server::Response response{.content_type = "application/json", .body = "{}\n"};
  response.etag = etag;
  return response;
}

}  // namespace pennyweight::api
