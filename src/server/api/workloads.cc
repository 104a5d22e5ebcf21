// GET /api/v1/workloads and /api/v1/workload: the cost of each workload, and the details of one.
#include "server/api/workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "config/config.h"
#include "core/try.h"
#include "ledger/posting.h"
#include "reporting/number_format.h"
#include "reporting/unit_cost_jobs.h"
#include "server/api/cost_params.h"
#include "server/api/downloads.h"
#include "server/api/endpoints.h"
#include "server/api/scoped_queries.h"
#include "server/api/tables.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;
using std::chrono::sys_days;

constexpr std::string_view kWorkloadList = "workloads";
constexpr std::size_t kFirstDimension = 3;  // behind cluster, workload and kind

std::vector<std::string> dimension_names(const Policy& policy) {
  std::vector<std::string> names;
  for (const DimensionRule& rule : policy.dimensions) names.push_back(rule.dimension);
  return names;
}

std::string workload_key(std::string_view cluster, std::string_view workload, Currency currency) {
  return fmt::format("{}\n{}\n{}", cluster, workload, currency.text());
}
std::string workload_key(const WorkloadSums& sums) {
  return workload_key(sums.cluster, sums.workload, sums.effective.currency());
}

WorkloadOrder parse_order(const std::string& name) {
  if (name == "idle") return WorkloadOrder::kIdle;
  if (name == "gpu_hours") return WorkloadOrder::kGpuHours;
  if (name == "workload") return WorkloadOrder::kName;
  return WorkloadOrder::kCost;
}

// For programs, which read all workloads: without first and last days, which only pages have.
Table table_of(const std::vector<WorkloadSums>& all, const std::vector<std::string>& names,
               Currency currency) {
  Table table;
  table.title = "Workloads";
  table.currency = currency;
  table.columns = {{"cluster", "cluster", ColumnKind::kText},
                   {"workload", "workload", ColumnKind::kId}};
  for (const std::string& name : names) table.columns.push_back({name, name, ColumnKind::kText});
  table.columns.push_back({"effective_cost", "effective", ColumnKind::kMoney});
  table.columns.push_back({"used_cost", "used", ColumnKind::kMoney});
  table.columns.push_back({"held_idle_cost", "held idle", ColumnKind::kMoney});
  table.columns.push_back({"gpu_hours", "GPU-hours", ColumnKind::kGpuHours});
  table.columns.push_back({"observed_share", "observed", ColumnKind::kPercent});
  for (const WorkloadSums& sums : all) {
    if (sums.effective.currency() != currency) continue;
    Row row = {sums.cluster, sums.workload};
    row.insert(row.end(), sums.dimensions.begin(), sums.dimensions.end());
    row.emplace_back(sums.effective);
    row.emplace_back(sums.used);
    row.emplace_back(sums.idle);
    row.emplace_back(sums.held);
    row.emplace_back(
        Ratio{static_cast<Int128>(sums.observed.count()), static_cast<Int128>(sums.held.count())});
    table.rows.push_back(std::move(row));
  }
  return table;
}

using Days = std::map<std::pair<std::string, std::string>, std::pair<sys_days, sys_days>>;

// The first and last day of each workload on a page.
Result<Days> query_days(const ScopedQueries& queries, const SummaryQuery& params,
                        std::span<const WorkloadSums> page) {
  SummaryQuery query = params;
  query.bucket = TimeBucket::kDay;
  query.group_by = {"cluster", "workload"};
  std::set<std::string> names;
  for (const WorkloadSums& sums : page) names.insert(sums.workload);
  query.filters.push_back({"workload", {names.begin(), names.end()}, false});
  const auto rows = TRY(queries.summarise(query));
  Days days;
  for (const SummaryRow& row : rows) {
    const auto [at, is_new] =
        days.try_emplace({row.keys[0], row.keys[1]}, std::pair(*row.bucket, *row.bucket));
    at->second.first = std::min(at->second.first, *row.bucket);
    at->second.second = std::max(at->second.second, *row.bucket);
  }
  return days;
}

void write_dimensions(JsonWriter& out, const std::vector<std::string>& names,
                      const std::vector<std::string>& values) {
  out.key("dimensions").begin_object();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!values[i].empty()) out.field(names[i], values[i]);
  }
  out.end_object();
}

void write_hours(JsonWriter& out, GpuTime time) {
  out.field("gpu_hours", format_gpu_hours(time, 4, Thousands::kPlain))
      .field("gpu_hours_exact", exact_gpu_hours(time));
}

std::string amount(const Money& money) { return to_text(money.amount()); }

// The workloads of a page, and whether there are more.
struct WorkloadPage {
  std::vector<WorkloadSums> workloads;
  bool has_more = false;
  bool is_lost = false;  // the cursor's workload is no longer in the list
};

WorkloadPage cut_workload_page(const std::vector<WorkloadSums>& all, const Page& page) {
  auto begin = all.begin();
  if (page.after) {
    begin = std::ranges::find_if(
        all, [&](const WorkloadSums& sums) { return workload_key(sums) == *page.after; });
    if (begin == all.end()) return {.workloads = {}, .is_lost = true};
    ++begin;
  }
  const auto count =
      std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(page.limit), all.end() - begin);
  return {.workloads = {begin, begin + count}, .has_more = begin + count != all.end()};
}

std::optional<rollup::PageRequest::Cursor> row_position(const std::string& key) {
  const std::size_t first = key.find('\n'), last = key.rfind('\n');
  if (first == last) return std::nullopt;
  const auto currency = Currency::parse(std::string_view(key).substr(last + 1));
  if (!currency) return std::nullopt;
  return rollup::PageRequest::Cursor{
      {key.substr(0, first), key.substr(first + 1, last - first - 1)}, *currency};
}

// The rollup tells which workloads are on a page; only their costs and owners are then queried.
// Nothing if the rollup does not have the order.
Result<std::optional<WorkloadPage>> page_from_rollup(const ScopedQueries& queries,
                                                     const SummaryQuery& query,
                                                     const SummaryQuery& whole, WorkloadOrder order,
                                                     const Page& page) {
  using Order = rollup::PageRequest::Order;
  if (order == WorkloadOrder::kIdle) return std::nullopt;
  rollup::PageRequest params{.order = order == WorkloadOrder::kName       ? Order::kKey
                                      : order == WorkloadOrder::kGpuHours ? Order::kGpuTime
                                                                          : Order::kEffective,
                             .count = page.limit};
  if (page.after) {
    params.after = row_position(*page.after);
    if (!params.after) return WorkloadPage{.workloads = {}, .is_lost = true};
  }
  SummaryQuery listed = query;
  listed.group_by = {"cluster", "workload"};
  if (order == WorkloadOrder::kName) {
    std::ranges::reverse(listed.group_by);
    if (params.after) std::ranges::reverse(params.after->keys);
  }
  const auto found = queries.page(listed, params);
  if (!found) return std::unexpected(found.error());
  if (!*found) return std::nullopt;
  WorkloadPage shown{.workloads = {}, .has_more = (*found)->has_more, .is_lost = (*found)->is_lost};
  std::set<std::string> names;
  const std::size_t name_at = order == WorkloadOrder::kName ? 0 : 1;
  for (const SummaryRow& row : (*found)->rows) names.insert(row.keys[name_at]);
  if (names.empty()) return shown;
  SummaryQuery of_page = whole;
  of_page.filters.push_back({"workload", {names.begin(), names.end()}, false});
  const auto rows = TRY(queries.summarise(of_page));
  std::map<std::string, WorkloadSums> by_key;
  for (WorkloadSums& sums : workload_sums(rows, order)) {
    std::string key = workload_key(sums);
    by_key.emplace(std::move(key), std::move(sums));
  }
  for (const SummaryRow& row : (*found)->rows) {
    const auto at =
        by_key.find(workload_key(row.keys[1 - name_at], row.keys[name_at], row.costs.currency()));
    // Absent if the costs have changed in between.
    if (at != by_key.end()) shown.workloads.push_back(std::move(at->second));
  }
  return shown;
}

Response page_of(const ScopedQueries& queries, const SummaryQuery& query, const WorkloadPage& page,
                 const std::vector<std::string>& names, const std::string& etag) {
  if (page.is_lost) {
    return bad_parameter("cursor",
                         "its workload is no longer in the list; start again without a cursor");
  }
  const std::span<const WorkloadSums> shown(page.workloads);
  const auto days = shown.empty() ? Result<Days>() : query_days(queries, query, shown);
  if (!days) return refusal(days.error());
  std::optional<std::string> next;
  if (!shown.empty() && page.has_more) next = to_cursor(kWorkloadList, workload_key(shown.back()));
  return list(
      shown, next,
      [&](JsonWriter& out, const WorkloadSums& sums) {
        out.begin_object().field("cluster", sums.cluster).field("workload", sums.workload);
        const auto known = days->find({sums.cluster, sums.workload});
        if (known != days->end()) {
          out.field("first", Date(known->second.first)).field("last", Date(known->second.second));
        }
        out.field("effective_cost", amount(sums.effective))
            .field("used_cost", amount(sums.used))
            .field("held_idle_cost", amount(sums.idle))
            .field("currency", sums.effective.currency().text());
        write_hours(out, sums.held);
        out.field("observed_share", format_percent(static_cast<Int128>(sums.observed.count()),
                                                   static_cast<Int128>(sums.held.count()), 4));
        write_dimensions(out, names, sums.dimensions);
        out.end_object();
      },
      etag);
}

// ---- one workload

// Whether the name, the cluster or a dimension has `text` in it.
bool has(const WorkloadSums& sums, std::string_view text) {
  return has_part(sums.workload, text) || has_part(sums.cluster, text) ||
         std::ranges::any_of(sums.dimensions,
                             [&](const std::string& value) { return has_part(value, text); });
}

struct DaySums {
  Money used, idle, other;
  GpuTime held;
};

std::string_view end_text(AttemptEnd end) {
  switch (end) {
    case AttemptEnd::kUseful:
      return "useful";
    case AttemptEnd::kLost:
      return "lost";
    case AttemptEnd::kRunning:
      return "running";
    case AttemptEnd::kUnknown:
      return "unknown";
  }
  return "unknown";
}

// How it ended, in the scheduler's words.
std::string describe_end(const Holding& holding) {
  if (!holding.ended) return "running";
  for (const char* label : {"state", "phase"}) {
    const auto value = holding.labels.find(label);
    if (value && !value->empty()) return std::string(*value);
  }
  return "ended";
}

std::vector<std::string> nodes_of(const Holding& holding, const std::vector<Gpu>& gpus) {
  std::set<std::string> nodes;
  if (const auto* named = std::get_if<OnNodes>(&holding.placement)) {
    for (const OnNodes::NodeDevices& part : named->parts) nodes.insert(part.node.text());
  }
  if (const auto* cards = std::get_if<OnGpus>(&holding.placement)) {
    for (const Gpu& gpu : gpus) {
      const bool is_held = std::ranges::any_of(cards->gpus, [&](const GpuId& id) {
        return id == gpu.uuid || std::ranges::find(gpu.mig_instances, id, &MigInstance::id) !=
                                     gpu.mig_instances.end();
      });
      if (is_held) nodes.insert(gpu.node.text());
    }
  }
  return {nodes.begin(), nodes.end()};
}

void write_attempts(JsonWriter& out, const WorkloadFacts& facts) {
  out.key("attempts").begin_list();
  std::uint64_t number = 0;
  for (const Holding& holding : facts.holdings) {
    out.begin_object()
        .field("attempt", ++number)
        .field("name", holding.attempt)
        .field("from", holding.held.begin())
        .key("to");
    if (holding.ended) {
      out.value(holding.held.end());
    } else {
      out.null();
    }
    out.field("ended", describe_end(holding))
        .field("placement", to_text(holding.placement))
        .field("device", to_text(holding.device))
        .texts("nodes", nodes_of(holding, facts.gpus))
        .end_object();
  }
  out.end_list();
}

void write_days(JsonWriter& out, std::span<const SummaryRow> rows) {
  std::map<std::pair<sys_days, Currency>, DaySums> days;
  for (const SummaryRow& row : rows) {
    const Currency currency = row.costs.currency();
    const Money zero = Money::zero(currency);
    DaySums& sums =
        days.try_emplace({*row.bucket, currency}, DaySums{zero, zero, zero, {}}).first->second;
    const auto kind = parse_posting_kind(row.keys[2]);
    (kind == PostingKind::kUsed       ? sums.used
     : kind == PostingKind::kHeldIdle ? sums.idle
                                      : sums.other) += row.costs.effective;
    sums.held += row.gpu_time;
  }
  out.key("days").begin_list();
  for (const auto& [key, sums] : days) {
    out.begin_object()
        .field("day", Date(key.first))
        .field("used_cost", amount(sums.used))
        .field("held_idle_cost", amount(sums.idle))
        .field("other_cost", amount(sums.other))
        .field("currency", key.second.text());
    write_hours(out, sums.held);
    out.end_object();
  }
  out.end_list();
}

void write_labels(JsonWriter& out, const WorkloadFacts& facts) {
  out.key("labels").begin_object();
  if (!facts.holdings.empty()) {
    for (const auto& [name, value] : facts.holdings.back().labels.entries()) out.field(name, value);
  }
  out.end_object();
}

}  // namespace

std::vector<std::string> workload_keys(const std::vector<std::string>& dimensions) {
  std::vector<std::string> keys = {"cluster", "workload", "kind"};
  keys.insert(keys.end(), dimensions.begin(), dimensions.end());
  return keys;
}

std::vector<WorkloadSums> workload_sums(std::span<const SummaryRow> rows, WorkloadOrder order) {
  std::map<std::tuple<std::string, std::string, Currency>, WorkloadSums> found;
  for (const SummaryRow& row : rows) {
    if (row.keys[1].empty()) continue;
    const Money zero = Money::zero(row.costs.currency());
    WorkloadSums& sums =
        found
            .try_emplace(
                {row.keys[0], row.keys[1], row.costs.currency()},
                WorkloadSums{.cluster = row.keys[0],
                             .workload = row.keys[1],
                             .dimensions = {row.keys.begin() + kFirstDimension, row.keys.end()},
                             .effective = zero,
                             .used = zero,
                             .idle = zero,
                             .held = {},
                             .observed = {}})
            .first->second;
    const auto kind = parse_posting_kind(row.keys[2]);
    sums.effective += row.costs.effective;
    if (kind == PostingKind::kUsed) sums.used += row.costs.effective;
    if (kind == PostingKind::kHeldIdle) sums.idle += row.costs.effective;
    sums.held += row.gpu_time;
    sums.observed += row.observed_time;
  }
  std::vector<WorkloadSums> all;
  all.reserve(found.size());
  for (auto& [key, sums] : found) all.push_back(std::move(sums));
  // They are sorted by name already, which the stable sort preserves.
  std::ranges::stable_sort(all, [&](const WorkloadSums& a, const WorkloadSums& b) {
    switch (order) {
      case WorkloadOrder::kCost:
        return a.effective.ticks() > b.effective.ticks();
      case WorkloadOrder::kIdle:
        return a.idle.ticks() > b.idle.ticks();
      case WorkloadOrder::kGpuHours:
        return a.held > b.held;
      case WorkloadOrder::kName:
        return a.workload < b.workload;
    }
    return false;
  });
  return all;
}

Response get_workloads(const Services& services, const Request& request) {
  ScopedQueries queries(services, request);
  const Policy& policy = services.config.policy;
  QueryParams params(request);
  SummaryQuery query;
  read_selection(params, policy, query);
  queries.convert_to(read_currency(params, services.config.currencies.report));
  const WorkloadOrder order =
      parse_order(params.choice("sort", {"cost", "idle", "gpu_hours", "workload"}));
  const std::string text = params.text("text").value_or("");
  const Page page = params.page(kWorkloadList);
  const AnswerFormat format = choose_format(params, request, false);
  if (auto problem = params.problem()) return *std::move(problem);
  const std::string etag = queries.etag(request);
  if (client_has(request, etag)) return not_modified(etag);

  const std::vector<std::string> names = dimension_names(policy);
  query.filters.push_back({"workload", {""}, true});
  SummaryQuery whole = query;
  whole.group_by = workload_keys(names);
  if (format == AnswerFormat::kJson && text.empty()) {
    const auto shown = page_from_rollup(queries, query, whole, order, page);
    if (!shown) return refusal(shown.error());
    if (*shown) return page_of(queries, query, **shown, names, etag);
  }
  Downloads::Turn turn;
  if (format != AnswerFormat::kJson) {
    turn = services.downloads->take(request);
    if (!turn) return no_turn();
  }
  const auto rows = queries.summarise(whole);
  if (!rows) return refusal(rows.error());
  if (rows->size() > kStreamedRowsMax) {
    return refusal({ErrorCode::kUnsupported, "too many workloads; choose a month, or filter"});
  }
  std::vector<WorkloadSums> all = workload_sums(*rows, order);
  if (!text.empty()) std::erase_if(all, [&](const WorkloadSums& sums) { return !has(sums, text); });
  if (format == AnswerFormat::kJson)
    return page_of(queries, query, cut_workload_page(all, page), names, etag);
  std::set<Currency> currencies;
  for (const WorkloadSums& sums : all) currencies.insert(sums.effective.currency());
  std::vector<Table> tables;
  for (const Currency& currency : currencies) tables.push_back(table_of(all, names, currency));
  return with_turn(answer(std::move(tables), format, etag), std::move(turn));
}

Response get_workload(const Services& services, const Request& request) {
  ScopedQueries queries(services, request);
  QueryParams params(request);
  const std::string cluster = params.text("cluster").value_or("");
  const std::string workload = params.required("workload");
  const std::string month = params.month("month").value_or("");
  if (month.empty()) params.reject("month", "missing");
  queries.convert_to(read_currency(params, services.config.currencies.report));
  if (auto problem = params.problem()) return *std::move(problem);

  const std::vector<std::string> names = dimension_names(services.config.policy);
  SummaryQuery query;
  query.bucket = TimeBucket::kDay;
  query.group_by = workload_keys(names);
  query.filters = {
      {"cluster", {cluster}, false}, {"workload", {workload}, false}, {"month", {month}, false}};
  const auto rows = queries.summarise(query);
  if (!rows) return refusal(rows.error());
  // The same answer if the workload does not exist and if it is outside the scope.
  if (rows->empty()) {
    return not_found(fmt::format("'{}' has no cost in {}", workload, month));
  }
  const auto facts = queries.workload(ClusterId(cluster), WorkloadId(workload), month);
  if (!facts) return refusal(facts.error());

  JsonWriter out;
  out.begin_object().field("cluster", cluster).field("workload", workload);
  const auto& keys = rows->back().keys;
  write_dimensions(out, names, {keys.begin() + kFirstDimension, keys.end()});
  write_labels(out, *facts);
  write_attempts(out, *facts);
  write_days(out, *rows);
  if (!facts->holdings.empty()) {
    out.field("outcome", end_text(attempt_end(facts->holdings.back())));
  }
  if (facts->lost && facts->lost->size() == 1) {
    const auto lost = queries.in_currency(facts->lost->front(), month);
    if (!lost) return refusal(lost.error());
    out.field("lost_cost", amount(*lost));
    out.field("currency", lost->currency().text());
  }
  out.texts("rates", queries.rates());
  out.end_object();
  return json(out);
}

}  // namespace pennyweight::api
