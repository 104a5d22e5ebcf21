// GET /api/v1/advice and /catalog: what to change, and what it would save a month; what was decided
// about it.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "config/config.h"
#include "core/billing_period.h"
#include "core/check.h"
#include "core/date.h"
#include "core/plain_text.h"
#include "insight/queries/advice_decisions.h"
#include "insight/queries/advice_query.h"
#include "insight/queries/gpu_catalog.h"
#include "server/api/answers.h"
#include "server/api/audit_log.h"
#include "server/api/cost_params.h"
#include "server/api/endpoints.h"
#include "server/api/route_helpers.h"
#include "server/api/scoped_queries.h"
#include "server/api/tables.h"

namespace pennyweight::api {

using server::Request;
using server::Response;

namespace {

constexpr std::size_t kAdviceReasonBytesMax = 2000;

Date today_of(const Services& services) {
  const std::string today = local_date(services.clock.now(), services.config.policy.time_zone);
  const auto day = parse_date(today);
  CHECK(day.has_value(), "local_date() writes a date");
  return *day;
}

}  // namespace

Response get_advice(const Services& services, const Request& request) {
  ScopedQueries queries(services, request);
  QueryParams params(request);
  queries.convert_to(read_currency(params, services.config.currencies.report));
  AdviceQuery query;
  query.month = params.month("month").value_or("");
  query.cluster = params.text("cluster").value_or("");
  if (const auto kind = params.text("kind")) query.kinds = {*kind};
  query.team = params.text("team").value_or("");
  query.effort = params.text("effort").value_or("");
  const auto confidence = params.text("confidence");
  const auto sure = params.text("sure");  // its old name
  query.confidence = confidence.value_or(sure.value_or(""));
  if (sure && !sure->empty() && !advising::parse_confidence(*sure)) {
    params.reject("sure", "must be low, medium or high");
  }
  query.cost = params.choice("cost", {"effective", "billed", "list", "contracted"});
  query.prices_at = params.date("prices_as_of")
                        .transform([](Date day) { return Instant(day); })
                        .value_or(services.clock.now());
  query.dismissed = params.boolean("dismissed").value_or(false);
  query.today = today_of(services);
  const auto id = params.text("id");
  if (id) query.dismissed = true;
  const AnswerFormat format = choose_format(params, request, false);
  if (auto problem = params.problem()) return *std::move(problem);
  auto result = queries.advice(query);
  if (!result) return refusal(result.error());
  const auto converted = convert_advice(
      *result, [&](const Money& amount) { return queries.in_currency(amount, result->month); });
  // Not 404, which says that there is no such month.
  if (!converted) return server::problem(422, "Bad parameter", converted.error().message);
  std::vector<Table> tables;
  if (id) {
    auto detail = advice_detail(*result, *id);
    if (!detail) return refusal(detail.error());
    tables.push_back(*std::move(detail));
  } else {
    tables = advice_tables(*result);
  }
  for (const std::string& rate : queries.rates()) {
    tables.back().notes.push_back(
        fmt::format("converted at {}; evidence and decisions are as billed", rate));
  }
  return answer(std::move(tables), format, "");
}

// GPU models, what they can do, and their list prices; with runs_on, which of them would run a
// load.
Response get_gpu_catalog(const Services& services, const Request& request) {
  constexpr std::uint64_t kPpmOfPercent = 10'000;
  QueryParams params(request);
  GpuCatalogQuery query{.model = params.text("model").value_or(""),
                        .provider = params.text("provider").value_or(""),
                        .region = params.text("region").value_or(""),
                        .at = params.date("prices_as_of")
                                  .transform([](Date day) { return Instant(day); })
                                  .value_or(services.clock.now())};
  const auto runs_on = params.text("runs_on");
  const auto busy = params.number("busy", 0, 100);
  const auto busy_p95 = params.number("busy_p95", 0, 100);
  const auto bandwidth = params.number("bandwidth", 0, 100);
  const auto memory_gib = params.number("memory_gib", 0, 100'000);
  if (runs_on && busy && bandwidth && memory_gib) {
    query.load = CatalogLoad{.model = *runs_on,
                             .load = {.mean_activity_ppm = *busy * kPpmOfPercent,
                                      .p95_activity_ppm = busy_p95.value_or(*busy) * kPpmOfPercent,
                                      .mean_dram_ppm = *bandwidth * kPpmOfPercent,
                                      .p99_memory_bytes = *memory_gib << 30}};
  } else if (runs_on || busy || busy_p95 || bandwidth || memory_gib) {
    params.reject("runs_on", "needs busy, bandwidth and memory_gib beside it, and they need it");
  }
  const AnswerFormat format = choose_format(params, request, false);
  if (auto problem = params.problem()) return *std::move(problem);
  auto tables = gpu_catalog_tables(services.catalog, query);
  if (!tables) return refusal(tables.error());
  return answer(*std::move(tables), format, "");
}

Response get_advice_decisions(const Services& services, const Request& request) {
  const ScopedQueries queries(services, request);
  QueryParams params(request);
  const AnswerFormat format = choose_format(params, request, false);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto lives = queries.advice_lives(today_of(services));
  if (!lives) return refusal(lives.error());
  return answer({advice_decisions_table(*lives, team_dimension_of(services.config.policy))}, format,
                "");
}

Response get_advice_progress(const Services& services, const Request& request) {
  const ScopedQueries queries(services, request);
  QueryParams params(request);
  AdviceQuery query;
  query.month = params.month("month").value_or("");
  query.prices_at = services.clock.now();
  query.today = today_of(services);
  const AnswerFormat format = choose_format(params, request, false);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto result = queries.advice(query);
  if (!result) return refusal(result.error());
  return answer(advice_progress_tables(*result), format, "");
}

Response post_advice_step(const Services& services, const Request& request) {
  const ScopedQueries queries(services, request);
  QueryParams params(request);
  JsonBody body(request);
  const auto action = parse_advice_action(body.required("action"));
  if (!action) body.reject("action", "must be accept, dismiss, done, verify or reopen");
  const std::string reason = body.text("reason").value_or("");
  if (reason.size() > kAdviceReasonBytesMax || !is_plain_text(reason)) {
    body.reject("reason", fmt::format("must be a text of at most {} bytes", kAdviceReasonBytesMax));
  }
  // No beginning of an id: others' ids are nobody's business.
  if (request.param("id").size() != advising::kProposalIdDigits) {
    return not_found("there is no such advice");
  }
  AdviceDecision decision{.id = request.param("id"),
                          .by = principal_of(request).name,
                          .reason = reason,
                          .at = services.clock.now(),
                          .today = today_of(services)};
  if (const auto text = body.text("day")) {
    const auto day = parse_date(*text);
    if (!day) body.reject("day", "must be a date such as 2026-03-31");
    if (day) decision.day = *day;
  }
  AdviceQuery query;
  query.month = body.text("month").value_or("");
  query.prices_at = services.clock.now();
  query.today = decision.today;
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  decision.action = *action;
  const std::string name = fmt::format("advice.{}", to_text(*action));
  const auto step = queries.prepare_advice_step(decision, query);
  if (!step) return refusal(step.error());
  const std::string subject = "advice " + step->advice;
  const std::string facts = advice_step_facts(*step);
  if (auto recorded = record_intent(services.audit_log, author_of(request), name, subject, facts);
      !recorded) {
    return refusal(recorded.error());
  }
  const auto written =
      services.ledger([&](Store& store) { return write_advice_step(store, *step); });
  if (!written) {
    record_failure(services.audit_log, author_of(request), name, subject, written.error());
    return refusal(written.error());
  }
  const auto recorded = append(services, request, name, subject, "", facts);
  if (!recorded) return not_recorded(recorded.error());
  return json(facts, 201);
}

}  // namespace pennyweight::api
