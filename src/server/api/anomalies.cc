// GET /api/v1/anomalies: unusual days; POST /api/v1/anomalies/verdicts: what somebody says of them.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "core/json_text.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "insight/anomalies/verdict.h"
#include "insight/queries/budget_query.h"
#include "insight/queries/daily_costs.h"
#include "server/access/principal.h"
#include "server/anomaly_book/anomaly_book.h"
#include "server/api/answers.h"
#include "server/api/audit_log.h"
#include "server/api/cost_params.h"
#include "server/api/daily_history.h"
#include "server/api/endpoints.h"
#include "server/api/recorded_change.h"
#include "server/api/route_helpers.h"
#include "server/api/scoped_queries.h"
#include "server/api/tables.h"

namespace pennyweight::api {
namespace {

using server::problem;
using server::Request;
using server::Response;

constexpr std::size_t kVerdictReasonBytesMax = 500;
constexpr std::uint64_t kImpactPercent = 10;
constexpr std::uint64_t kImpactPercentMax = 1000;

// Whether the user sees all that the values of a dimension cost: of others they see a part, whose
// unusual days are not those of the whole.
bool sees_whole(const access::Principal& who, const std::string& by) {
  if (!who.is_scoped()) return true;
  return who.scope.size() == 1 && !who.scope.front().negate && who.scope.front().dimension == by;
}

// Later alerts of everybody depend on what is learnt, so it takes what a silence takes.
bool may_teach(const access::Principal& who) {
  return !who.is_scoped() || access::may(who, access::Permission::kManageAlerts);
}

Result<std::vector<AnomalyVerdict>> verdicts_for(const Services& services,
                                                 const access::Principal& who,
                                                 const std::string& by) {
  if (services.anomaly_book == nullptr || !sees_whole(who, by)) {
    return std::vector<AnomalyVerdict>();
  }
  return services.anomaly_book->verdicts();
}

// An incident as its user sees it, by effective cost. `impact_percent`: of the list that names it,
// since of a smaller one it may begin earlier.
Result<std::optional<FoundAnomaly>> find_incident(const Services& services, const Request& request,
                                                  const IncidentName& name, int impact_percent) {
  ScopedQueries queries(services, request);
  queries.convert_to(services.config.currencies.report);
  AnomalyQuery query;
  query.costs.by = name.by;
  query.since = name.first;
  query.rules.impact_percent = impact_percent;
  TRY(set_known_days(services, queries, std::nullopt, query.costs));
  const auto found =
      query_anomalies(query, services.config.policy,
                      [&](const SummaryQuery& summary) { return queries.summarise(summary); });
  if (!found && found.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!found) return std::unexpected(found.error());
  const auto at = std::ranges::find_if(*found, [&](const FoundAnomaly& one) {
    return one.key == name.key && one.first == name.first;
  });
  return at == found->end() ? std::nullopt : std::optional(*at);
}

}  // namespace

Response get_anomalies(const Services& services, const Request& request) {
  ScopedQueries queries(services, request);
  const Policy& policy = services.config.policy;
  QueryParams params(request);
  AnomalyQuery query;
  query.costs.by = params.text("by").value_or("");
  query.cause = params.text("cause").value_or("");
  query.costs.filters = read_filters(params);
  query.costs.cost =
      params.choice("cost", {"effective", "billed", "list", "contracted", "gpu_hours"});
  query.rules.impact_percent =
      static_cast<int>(params.number("impact", 1, kImpactPercentMax).value_or(kImpactPercent));
  query.since = params.date("since");
  const auto today = params.date("today");
  const bool explains = params.boolean("explain").value_or(false);
  if (params.boolean("hours").value_or(false)) {
    query.postings = [&](const SummaryQuery& summary, std::uint64_t at_most) {
      return queries.postings(summary, at_most);
    };
  }
  // Hours have no currency: rates that are missing are no reason to refuse them.
  const auto currency = read_currency(params, services.config.currencies.report);
  if (query.costs.cost != kGpuHourCost) queries.convert_to(currency);
  const AnswerFormat format = choose_format(params, request, false);
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto known = set_known_days(services, queries, today, query.costs); !known) {
    return refusal(known.error());
  }
  std::string unread;  // why the verdicts can't be read
  if (auto verdicts = verdicts_for(services, queries.who(), query.costs.by)) {
    query.verdicts = *std::move(verdicts);
  } else {
    unread = verdicts.error().message;
  }
  const auto found = query_anomalies(
      query, policy, [&](const SummaryQuery& summary) { return queries.summarise(summary); });
  // Nothing was spent yet: an answer without tables, not an error.
  if (!found && found.error().code == ErrorCode::kNotFound) return answer({}, format, "");
  if (!found) return refusal(found.error());
  Table table = anomaly_table(*found, query);
  if (explains) {
    for (const FoundAnomaly& one : *found) table.notes.push_back(one.sentence);
  }
  if (!unread.empty()) {
    table.notes.push_back("what people say of unusual days can't be read: " + unread);
  }
  std::ranges::move(queries.rates(), std::back_inserter(table.notes));
  return answer({std::move(table)}, format, "");
}

Response post_anomaly_verdict(const Services& services, const Request& request) {
  QueryParams params(request);
  JsonBody body(request);
  const IncidentName name{body.text("by").value_or(""), body.required("key"), {}};
  const auto first = parse_date(body.required("first"));
  if (!first) body.reject("first", first.error().message);
  const auto impact = body.number("impact", 1, kImpactPercentMax).value_or(kImpactPercent);
  if (!body.has("expected")) body.reject("expected", "missing");
  AnomalyVerdict verdict{.incident = {name.by, name.key, first.value_or(Date())},
                         .is_expected = body.boolean("expected").value_or(false),
                         .reason = body.text("reason").value_or(""),
                         .who = actor_name(principal_of(request)),
                         .at = services.clock.now(),
                         .teaches = may_teach(principal_of(request))};
  if (verdict.reason.size() > kVerdictReasonBytesMax || !is_plain_text(verdict.reason)) {
    body.reject("reason",
                fmt::format("must be a text of at most {} bytes", kVerdictReasonBytesMax));
  }
  if (name.key == kOtherKeys) {
    body.reject("key", "stands for several values; name one of them");
  }
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  if (services.anomaly_book == nullptr) {
    return problem(409, "Conflict", "This server keeps no verdicts.");
  }
  if (!sees_whole(principal_of(request), name.by)) {
    return problem(403, "Forbidden",
                   "You see a part of these costs only; say it of the dimension of your scope.");
  }
  const auto found = find_incident(services, request, verdict.incident, static_cast<int>(impact));
  if (!found) return refusal(found.error());
  if (!*found) {
    return problem(404, "Not Found",
                   fmt::format("No unusual days of '{}' begin on {}.", name.key,
                               to_text(verdict.incident.first)));
  }
  const Incident& incident = (*found)->incident;
  verdict.size = {incident.score_milli, incident.impact_per_day()};
  static constexpr std::string_view kAction = "anomaly.verdict";
  const std::string subject =
      fmt::format("unusual days of {} from {}", name.key, to_text(verdict.incident.first));
  const std::string facts = fmt::format("{{\"expected\": {}, \"reason\": {}}}", verdict.is_expected,
                                        json_string(verdict.reason));
  const auto added = services.anomaly_book->add(verdict, [&]() -> Result<void> {
    TRY(append(services, request, kAction, subject, "", facts));
    return {};
  });
  if (!added) {
    record_failure(services.audit_log, author_of(request), kAction, subject, added.error());
    return refusal(added.error());
  }
  JsonWriter out;
  out.begin_object()
      .field("by", verdict.incident.by)
      .field("key", verdict.incident.key)
      .field("first", verdict.incident.first)
      .field("expected", verdict.is_expected)
      .field("reason", verdict.reason)
      .field("who", verdict.who)
      .field("at", verdict.at)
      .end_object();
  return json(out, 201);
}

}  // namespace pennyweight::api
