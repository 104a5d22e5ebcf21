// GET /api/v1/live, /api/v1/live/now and /api/v1/top: what runs now, its owners, and its cost per
// hour. /top is /live in the form of `pennyweight top`, also for terminals.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "reporting/live/live_table.h"
#include "reporting/table.h"
#include "server/api/cost_params.h"
#include "server/api/endpoints.h"
#include "server/api/live_now.h"
#include "server/api/scoped_queries.h"
#include "server/api/tables.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

constexpr std::uint64_t kLiveRowsDefault = 1000;
constexpr std::uint64_t kLiveRowsMax = 10'000;
// The width of a terminal. Below the minimum no column can be left out, so all are shown.
constexpr std::uint64_t kWidthMax = 10'000;
constexpr std::uint64_t kWidthMin = 20;

Response no_live_data() {
  Response later = server::problem(503, "Service unavailable",
                                   "No live data yet; it appears some seconds after the start.");
  later.retry_after = std::chrono::seconds(1);
  return later;
}

// Reads by, sort, ended and filter, for both tables.
LiveQuery live_query(QueryParams& params, const Request& request) {
  LiveQuery query;
  query.shown = params.name_list("by");
  if (!request.query.contains("by")) query.shown = {"team", "user"};
  const std::string sort = params.choice("sort", {kLiveOrders.begin(), kLiveOrders.end()});
  query.order = parse_live_order(sort).value_or(LiveOrder::kPerHour);
  query.ended = params.boolean("ended").value_or(false);
  for (const std::string& filter : read_filters(params)) {
    const std::size_t equals = filter.find('=');
    if (equals == std::string::npos || equals == 0 || filter[equals - 1] == '!') {
      params.reject("filter", "write it as team=nlp");
    } else if (const auto set =
                   query.filter.set(filter.substr(0, equals), filter.substr(equals + 1));
               !set) {
      params.reject("filter", set.error().message);
    }
  }
  return query;
}

void add(std::optional<Money>& sum, const std::optional<Money>& amount) {
  if (!amount) return;
  if (!sum) {
    sum = amount;
  } else if (sum->currency() == amount->currency()) {
    *sum += *amount;
  }
}

// Sums for one cluster.
struct HourlySums {
  std::optional<Money> held, idle, nobody;
  std::uint64_t held_milli = 0;
  std::uint64_t busy_milli = 0;
  bool is_observed = false;  // whether there is telemetry for any of it

  void add(const LiveRow& line) {
    if (!line.runs) return;
    if (line.is_unallocated) {
      api::add(nobody, line.hour);
      return;
    }
    api::add(held, line.hour);
    api::add(idle, line.idle_hour);
    held_milli += line.gpu_milli;
    const auto busy = busy_ratio(line);
    if (!busy) return;
    is_observed = true;
    const auto milli = static_cast<Int128>(line.gpu_milli);
    busy_milli += static_cast<std::uint64_t>((milli * busy->part + busy->whole / 2) / busy->whole);
  }
};

void write_cluster(JsonWriter& out, const LiveCluster& cluster, const HourlySums& now,
                   bool is_cut) {
  std::optional<Money> all = now.held;
  add(all, now.nobody);
  const auto amount = [&](const std::optional<Money>& money) -> std::optional<std::string> {
    if (money) return to_text(money->amount());
    // With known prices, the cost of nothing is 0.
    return all ? std::optional<std::string>("0") : std::nullopt;
  };
  out.begin_object().field("cluster", cluster.cluster.text());
  out.field("watched", cluster.is_watched);
  out.field("currency", all ? std::optional(all->currency().text()) : std::nullopt);
  out.field("cost_per_hour", amount(all))
      .field("held_per_hour", amount(now.held))
      .field("held_idle_per_hour", amount(now.idle));
  out.field("unallocated_per_hour", is_cut ? std::nullopt : amount(now.nobody));
  out.raw_field("gpus", is_cut ? gpus_text(now.held_milli) : std::to_string(cluster.recent.gpus));
  out.raw_field("gpus_held", gpus_text(now.held_milli));
  if (now.is_observed) {
    out.raw_field("gpus_busy", gpus_text(now.busy_milli));
  } else {
    out.key("gpus_busy").null();
  }
  out.texts("notes", cluster.recent.notes).end_object();
}

}  // namespace

std::string live_now_json(const LiveView* view, bool is_cut) {
  JsonWriter out;
  out.begin_object().key("at");
  if (view == nullptr) {
    return out.null().key("clusters").begin_list().end_list().end_object().text();
  }
  out.value(view->at).key("clusters").begin_list();
  std::map<ClusterId, HourlySums> sums;
  for (const LiveRow& line : live_rows(*view)) sums[line.cluster].add(line);
  for (const auto& [id, cluster] : view->clusters) write_cluster(out, cluster, sums[id], is_cut);
  return out.end_list().end_object().text();
}

Response get_live(const Services& services, const Request& request) {
  const ScopedQueries queries(services, request);
  QueryParams params(request);
  LiveQuery query = live_query(params, request);
  if (query.shown.empty()) query.shown = {"team", "user"};
  if (query.shown.size() > kGroupByMax) params.reject("by", "too many dimensions");
  query.limit =
      static_cast<std::size_t>(params.number("limit", 1, kLiveRowsMax).value_or(kLiveRowsDefault));
  const AnswerFormat format = choose_format(params, request, false);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto view = queries.live();
  if (view == nullptr) return no_live_data();
  return answer(live_tables(*view, query), format, "");
}

Response get_top(const Services& services, const Request& request) {
  const ScopedQueries queries(services, request);
  QueryParams params(request);
  LiveQuery query = live_query(params, request);
  query.limit = static_cast<std::size_t>(params.number("limit", 0, kLiveRowsMax).value_or(0));
  const std::string format_name = params.choice("format", {"json", "csv", "text"});
  const auto width = params.number("width", 1, kWidthMax);
  if (width && *width >= kWidthMin) query.style.width = static_cast<std::size_t>(*width);
  query.style.colour = params.boolean("colour").value_or(false);
  query.style.unicode = !params.boolean("plain").value_or(false);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto view = queries.live();
  if (view == nullptr) return no_live_data();
  const auto format = parse_table_format(format_name).value_or(TableFormat::kJson);
  query.for_people = format == TableFormat::kText;
  Response response{.body = render(live_tables(*view, query), format, query.style)};
  if (format == TableFormat::kJson) response.content_type = "application/json";
  if (format == TableFormat::kCsv) response.content_type = "text/csv; charset=utf-8";
  return response;
}

Response get_live_now(const Services& services, const Request& request) {
  const ScopedQueries queries(services, request);
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  return json(live_now_json(queries.live().get(), queries.is_scoped()));
}

}  // namespace pennyweight::api
