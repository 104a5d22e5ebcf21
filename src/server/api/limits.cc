// GET /api/v1/limits: how much of each limit is used this month; /api/v1/limits/stops: the work
// that limits stop while it runs.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "config/config.h"
#include "config/guardrail_config.h"
#include "insight/guardrails/stop_notice.h"
#include "insight/queries/limit_query.h"
#include "insight/queries/limit_stops.h"
#include "reporting/live/live_rows.h"
#include "server/api/answers.h"
#include "server/api/endpoints.h"
#include "server/api/route_helpers.h"
#include "server/api/tables.h"

namespace pennyweight::api {
namespace {

LimitStops listed_stops(const Services& services) {
  const auto state = services.limit_stops ? services.limit_stops() : guardrails::StopState();
  auto view = services.live && !state.notices.empty() ? services.live() : nullptr;
  const auto rows = view == nullptr ? nullptr : view_rows(std::move(view));
  return list_limit_stops(state, rows.get(), services.config, services.clock.now());
}

bool stops_anything(const Config& config) {
  return std::ranges::any_of(config.guardrails->limits, [](const guardrails::UsageLimit& limit) {
    return limit.stop_running.has_value();
  });
}

}  // namespace

server::Response get_limits(const Services& services, const server::Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto uses = ask_ledger(services, [&](Store& store) {
    return query_limits(services.config.guardrails->limits, services.clock.now(),
                        services.config.policy,
                        [&](const SummaryQuery& query) { return store.summarise(query); });
  });
  if (!uses) return refusal(uses.error());
  auto tables = limit_tables(*uses);
  if (stops_anything(services.config)) tables.push_back(limit_stops_table(listed_stops(services)));
  return answer(std::move(tables), AnswerFormat::kJson, "");
}

server::Response get_limit_stops(const Services& services, const server::Request& request) {
  QueryParams params(request);
  const std::string stage = params.text("stage").value_or("");
  const std::string format_name = params.choice("format", {"json", "csv", "text", "commands"});
  const bool is_stage =
      stage.empty() || std::ranges::find(kStopStageWords, stage) != std::end(kStopStageWords);
  if (!is_stage) params.reject("stage", "due, announced or exempt");
  if (format_name == "commands" && is_stage && !stage.empty() &&
      stage != kStopStageWords[static_cast<std::size_t>(StopStage::kDue)]) {
    params.reject("stage", "commands are of what is due; leave it out");
  }
  const auto cluster = params.text("cluster");
  // The same number is another job on another cluster.
  if (format_name == "commands" && !cluster && services.config.clusters.size() > 1) {
    params.reject("cluster", "missing: commands are for one cluster");
  }
  if (auto problem = params.problem()) return *std::move(problem);
  LimitStops stops = listed_stops(services);
  std::erase_if(stops.stops,
                [&](const LimitStop& stop) { return cluster && stop.cluster != *cluster; });
  if (format_name == "commands") return {.body = stop_commands(stops)};
  std::erase_if(stops.stops, [&](const LimitStop& stop) {
    return !stage.empty() && kStopStageWords[static_cast<std::size_t>(stop.stage)] != stage;
  });
  if (format_name == "json") return answer({limit_stops_table(stops)}, AnswerFormat::kJson, "");
  if (format_name == "csv") return answer({limit_stops_table(stops)}, AnswerFormat::kCsv, "");
  return {.body = render({limit_stops_table(stops)}, TableFormat::kText, {})};
}

}  // namespace pennyweight::api
