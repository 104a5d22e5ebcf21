// GET /api/v1/live, /api/v1/live/now and /api/v1/top: what runs now, whose it is, and what an hour
// of it costs. /top is /live as `pennyweight top` shows it: on a terminal, too.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "api/cost_asked.h"
#include "api/data_routes.h"
#include "api/desk.h"
#include "api/live_now.h"
#include "api/tables.h"
#include "live/view/live_table.h"
#include "report/table.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

constexpr std::uint64_t kRowsUsual = 1000;
constexpr std::uint64_t kLiveRowsMax = 10'000;
// Of a terminal. Where it is narrower than the least nothing can be left out, and all is shown.
constexpr std::uint64_t kWidthMax = 10'000;
constexpr std::uint64_t kWidthLeast = 20;

Response not_yet() {
  Response later =
      server::problem(503, "Service unavailable",
                      "Nothing was looked at yet; the first look follows the start by seconds.");
  later.retry_after = std::chrono::seconds(1);
  return later;
}

// by, sort, ended, filter: of both tables.
LiveQuery live_query(Asked& asked, const Request& request) {
  LiveQuery query;
  query.shown = asked.names("by");
  if (!request.query.contains("by")) query.shown = {"team", "user"};
  const std::string sort = asked.choice("sort", {kLiveOrders.begin(), kLiveOrders.end()});
  query.order = parse_live_order(sort).value_or(LiveOrder::kPerHour);
  query.ended = asked.truth("ended").value_or(false);
  for (const std::string& filter : filters_of(asked)) {
    const std::size_t equals = filter.find('=');
    if (equals == std::string::npos || equals == 0 || filter[equals - 1] == '!') {
      asked.wrong("filter", "write it as team=nlp");
    } else if (const auto set =
                   query.filter.set(filter.substr(0, equals), filter.substr(equals + 1));
               !set) {
      asked.wrong("filter", set.error().message);
    }
  }
  return query;
}

Response live(const Parts& parts, const Request& request) {
  const Desk desk(parts, request);
  Asked asked(request);
  LiveQuery query = live_query(asked, request);
  if (query.shown.empty()) query.shown = {"team", "user"};
  if (query.shown.size() > kGroupByMax) asked.wrong("by", "too many dimensions");
  query.limit =
      static_cast<std::size_t>(asked.number("limit", 1, kLiveRowsMax).value_or(kRowsUsual));
  const AnswerFormat format = format_of(asked, request, false);
  if (auto no = asked.refused()) return *std::move(no);
  const auto view = desk.live();
  if (view == nullptr) return not_yet();
  return answer(live_tables(*view, query), format, "");
}

Response top(const Parts& parts, const Request& request) {
  const Desk desk(parts, request);
  Asked asked(request);
  LiveQuery query = live_query(asked, request);
  query.limit = static_cast<std::size_t>(asked.number("limit", 0, kLiveRowsMax).value_or(0));
  const std::string format_name = asked.choice("format", {"json", "csv", "text"});
  const auto width = asked.number("width", 1, kWidthMax);
  if (width && *width >= kWidthLeast) query.style.width = static_cast<std::size_t>(*width);
  query.style.colour = asked.truth("colour").value_or(false);
  query.style.unicode = !asked.truth("plain").value_or(false);
  if (auto no = asked.refused()) return *std::move(no);
  const auto view = desk.live();
  if (view == nullptr) return not_yet();
  const auto format = parse_table_format(format_name).value_or(TableFormat::kJson);
  query.for_people = format == TableFormat::kText;
  Response response{.body = render(live_tables(*view, query), format, query.style)};
  if (format == TableFormat::kJson) response.content_type = "application/json";
  if (format == TableFormat::kCsv) response.content_type = "text/csv; charset=utf-8";
  return response;
}

Response live_now(const Parts& parts, const Request& request) {
  const Desk desk(parts, request);
  Asked asked(request);
  if (auto no = asked.refused()) return *std::move(no);
  return json(live_now_json(desk.live().get(), desk.is_scoped()));
}

void add(std::optional<Money>& sum, const std::optional<Money>& amount) {
  if (!amount) return;
  if (!sum) {
    sum = amount;
  } else if (sum->currency() == amount->currency()) {
    *sum += *amount;
  }
}

// Of one cluster.
struct Now {
  std::optional<Money> held, idle, nobody;
  std::uint64_t held_milli = 0;
  std::uint64_t busy_milli = 0;
  bool is_seen = false;  // whether anything was seen to be busy or not

  void add(const LiveLine& line) {
    if (!line.runs) return;
    if (line.is_nobody) {
      api::add(nobody, line.hour);
      return;
    }
    api::add(held, line.hour);
    api::add(idle, line.idle_hour);
    held_milli += line.gpu_milli;
    const auto busy = busy_of(line);
    if (!busy) return;
    is_seen = true;
    // Both have a factor of a million, without which they can be multiplied by thousandths of
    // cards.
    constexpr Int128 kMillion = 1'000'000;
    const Int128 whole = std::max<Int128>(1, busy->whole / kMillion);
    const Int128 part = std::min(busy->part / kMillion, whole);
    const auto milli = static_cast<Int128>(line.gpu_milli);
    busy_milli += static_cast<std::uint64_t>((milli * part + whole / 2) / whole);
  }
};

void write_cluster(JsonWriter& out, const LiveCluster& cluster, const Now& now, bool is_cut) {
  std::optional<Money> all = now.held;
  add(all, now.nobody);
  const auto amount = [&](const std::optional<Money>& money) -> std::optional<std::string> {
    if (money) return to_text(money->amount());
    // Nothing of it is no money, where there are prices.
    return all ? std::optional<std::string>("0") : std::nullopt;
  };
  out.begin_object().field("cluster", cluster.cluster.text());
  out.field("currency", all ? std::optional(all->currency().text()) : std::nullopt);
  out.field("cost_per_hour", amount(all))
      .field("held_per_hour", amount(now.held))
      .field("held_idle_per_hour", amount(now.idle));
  out.field("unallocated_per_hour", is_cut ? std::nullopt : amount(now.nobody));
  out.raw_field("gpus", is_cut ? gpus_text(now.held_milli) : std::to_string(cluster.recent.gpus));
  out.raw_field("gpus_held", gpus_text(now.held_milli));
  if (now.is_seen) {
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
  std::map<ClusterId, Now> sums;
  for (const LiveLine& line : live_lines(*view)) sums[line.cluster].add(line);
  for (const auto& [id, cluster] : view->clusters) write_cluster(out, cluster, sums[id], is_cut);
  return out.end_list().end_object().text();
}

std::vector<server::Route> live_routes(const Parts& parts) {
  return {{.method = "GET",
           .path = "/api/v1/live",
           .handler = [&parts](const Request& request) { return live(parts, request); },
           .needs = "read_live"},
          {.method = "GET",
           .path = "/api/v1/live/now",
           .handler = [&parts](const Request& request) { return live_now(parts, request); },
           .needs = "read_live"},
          {.method = "GET",
           .path = "/api/v1/top",
           .handler = [&parts](const Request& request) { return top(parts, request); },
           .needs = "read_live"}};
}

}  // namespace pennyweight::api
