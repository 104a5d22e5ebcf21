// What if: /api/v1/what-if/runs, one of them, its tables, and what can be chosen in a month.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "core/billing_period.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "insight/queries/what_if_query.h"
#include "insight/what_if/scenario_text.h"
#include "server/api/answers.h"
#include "server/api/audit_log.h"
#include "server/api/cost_params.h"
#include "server/api/endpoints.h"
#include "server/api/guard.h"
#include "server/api/route_helpers.h"
#include "server/api/scoped_queries.h"
#include "server/api/tables.h"
#include "server/api/what_if_report.h"
#include "server/api/what_if_runs.h"

namespace pennyweight::api {

using access::Permission;
using server::problem;
using server::Request;
using server::Response;

namespace {

constexpr std::string_view kRunList = "what-if";
constexpr std::size_t kNameBytesMax = 200;
constexpr std::chrono::seconds kRetryWhenBusy{10};

Response no_what_if() {
  return problem(503, "Service unavailable", "This server replays no scenarios.");
}

Result<std::uint64_t> last_import_now(const Services& services) {
  return ask_ledger(services, [&](Store& store) -> Result<std::uint64_t> {
    return store.last_import_until(services.clock.now());
  });
}

void write_run(JsonWriter& out, const WhatIfRun& run, const access::Principal& who) {
  out.begin_object()
      .field("id", run.id)
      .field("state", to_text(run.state))
      .field("name", run.asked.name)
      .field("scenario", run.asked.scenario)
      .field("calibration", run.asked.calibration)
      .field("month", run.asked.query.month)
      .field("cluster", run.cluster.empty() ? run.asked.query.cluster : run.cluster)
      .field("by", run.asked.query.by)
      .field("cost", run.asked.query.cost)
      .field("error_max", run.asked.query.error_percent_max)
      .field("wait_error_max", run.asked.query.wait_error_percent_max)
      .field("user", run.asked.user)
      .field("mine", run.asked.user == who.name)
      .field("created_at", run.created)
      .field("ended_at", run.ended)
      .field("error", run.error.empty() ? std::nullopt : std::optional(run.error));
  out.key("progress");
  if (run.state == WhatIfState::kRunning) {
    out.begin_object()
        .field("stage", run.stage)
        .field("jobs_ended", run.jobs_ended)
        .field("jobs", run.jobs)
        .end_object();
  } else {
    out.null();
  }
}

// Whether somebody may cancel or forget the run: who asked, and who manages users.
bool may_end(const access::Principal& who, const WhatIfRun& run) {
  return run.asked.user == who.name || may_access(who, Permission::kManageUsers);
}

// What is changed, and what is asked.
Result<void> read_scenario(const std::string& line, WhatIfQuery& query) {
  const what_if::ScenarioTexts texts = TRY(what_if::parse_scenario_line(line));
  query.scenario = TRY(what_if::parse_scenario(texts));
  query.questions = TRY(what_if::parse_questions(texts));
  return {};
}

// How the month was really scheduled; by default, as `replay` calibrates.
Result<void> read_calibration(const std::string& calibration, WhatIfQuery& query) {
  const what_if::ScenarioTexts ran = TRY(what_if::parse_scenario_line(
      calibration.find("blocked") == std::string::npos ? "blocked=skip;" + calibration
                                                       : calibration));
  query.calibration = TRY(what_if::parse_scheduling(ran.order, ran.blocked, ran.placement));
  query.calibration_limits = TRY(what_if::parse_lengths(ran.lengths));
  what_if::ScenarioTexts allowed;
  allowed.order = ran.order;
  allowed.blocked = ran.blocked;
  allowed.placement = ran.placement;
  allowed.lengths = ran.lengths;
  if (what_if::scenario_line(ran) != what_if::scenario_line(allowed)) {
    return fail(ErrorCode::kBadValue,
                "it says how the month was really scheduled, with scheduler, blocked, placement "
                "and lengths only");
  }
  return {};
}

// "a, b" as two names.
std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t cut = text.find(", ");
    names.emplace_back(text.substr(0, cut));
    text.remove_prefix(cut == std::string_view::npos ? text.size() : cut + 2);
  }
  return names;
}

std::string run_facts(const WhatIfRun& run) {
  JsonWriter out;
  out.begin_object()
      .field("month", run.asked.query.month)
      .field("cluster", run.asked.query.cluster)
      .field("scenario", run.asked.scenario)
      .field("name", run.asked.name)
      .end_object();
  return out.text();
}

}  // namespace

namespace {

// The tables in the currency that was asked for, with the rates below the costs. REQUIRES: the run
// has tables.
Result<std::shared_ptr<const WhatIfTables>> shown_tables(const ScopedQueries& queries,
                                                         const WhatIfRun& run) {
  const auto currency = queries.currency();
  if (!currency) return run.tables;
  const WhatIfQuery& query = run.asked.query;
  auto tables = TRY(what_if_tables_in(
      *currency, [&](const Money& amount) { return queries.in_currency(amount, query.month); },
      query, *run.tables));
  note_rates(queries.rates(), tables);
  return std::make_shared<const WhatIfTables>(std::move(tables));
}

bool has_amounts(std::string_view table) {
  constexpr std::string_view kWithAmounts[] = {"costs", "tier_costs",  "fleets", "tiers",
                                               "mig",   "commitments", "report"};
  return std::ranges::find(kWithAmounts, table) != std::end(kWithAmounts);
}

Response pdf_report(const Services& services, const WhatIfRun& run, const WhatIfTables& tables) {
  auto bytes = what_if_report(run.asked.query.month, run.cluster, run.asked.scenario, tables,
                              services.config.invoice.font);
  if (!bytes) return refusal(bytes.error());
  Response response{.content_type = "application/pdf", .body = *std::move(bytes)};
  response.headers.emplace_back(
      "Content-Disposition",
      fmt::format("attachment; filename=\"what-if-{}-{}.pdf\"", run.asked.query.month, run.id));
  return response;
}

}  // namespace

Response get_what_if_runs(const Services& services, const Request& request) {
  if (services.what_if_runs == nullptr) return no_what_if();
  QueryParams params(request);
  const std::string month = params.month("month").value_or("");
  const Page page = params.page(kRunList);
  if (auto problem = params.problem()) return *std::move(problem);
  std::vector<WhatIfRun> runs = services.what_if_runs->list();
  std::erase_if(
      runs, [&](const WhatIfRun& run) { return !month.empty() && run.asked.query.month != month; });
  // The list is in this order already; the key says where a page ends.
  std::size_t position = 0;
  std::map<std::string, std::string> keys;
  for (const WhatIfRun& run : runs) keys[run.id] = ascending_key(position++);
  const auto key = [&](const WhatIfRun& run) { return keys.at(run.id); };
  const auto part = cut_page(kRunList, page, std::move(runs), key);
  return list(part.entries, part.next, [&](JsonWriter& out, const WhatIfRun& run) {
    write_run(out, run, principal_of(request));
    out.end_object();
  });
}

Response start_what_if_run(const Services& services, const Request& request) {
  if (services.what_if_runs == nullptr) return no_what_if();
  QueryParams params(request);
  JsonBody body(request);
  WhatIfAsked asked;
  asked.user = principal_of(request).name;
  const std::string month = body.required("month");
  const std::string cluster = body.text("cluster").value_or("");
  asked.scenario = body.text("scenario").value_or("");
  asked.calibration = body.text("calibration").value_or("");
  asked.name = body.text("name").value_or("");
  const std::string by = body.text("by").value_or("team");
  const std::string cost = body.text("cost").value_or("effective");
  const auto error_max = body.number("error_max", 0, 100);
  const auto wait_error_max = body.number("wait_error_max", 0, 1'000'000);
  if (!month.empty() && !BillingPeriod::parse(month, TimeZone::utc())) {
    body.reject("month", "must be a month, such as 2026-03");
  }
  if (asked.name.size() > kNameBytesMax || !is_plain_text(asked.name)) {
    body.reject("name", fmt::format("at most {} bytes of text", kNameBytesMax));
  }
  if (cluster.size() > kNameBytesMax || !is_plain_text(cluster)) {
    body.reject("cluster", fmt::format("at most {} bytes of text", kNameBytesMax));
  }
  if (cost != "effective" && cost != "billed" && cost != "list" && cost != "contracted") {
    body.reject("cost", "must be effective, billed, list or contracted");
  }
  if (auto problem = params.problem()) return *std::move(problem);
  if (auto problem = body.problem()) return *std::move(problem);
  WhatIfQuery query;
  if (const auto read = read_scenario(asked.scenario, query); !read) {
    return bad_parameter("scenario", read.error().message);
  }
  if (const auto read = read_calibration(asked.calibration, query); !read) {
    return bad_parameter("calibration", read.error().message);
  }
  const auto& dimensions = services.config.policy.dimensions;
  if (!std::ranges::any_of(dimensions, [&](const auto& rule) { return rule.dimension == by; })) {
    return bad_parameter("by", "must be a dimension of the policy");
  }
  query.month = month;
  query.cluster = cluster;
  query.by = by;
  query.cost = cost;
  query.error_percent_max = static_cast<std::uint32_t>(error_max.value_or(5));
  query.wait_error_percent_max =
      static_cast<std::uint32_t>(wait_error_max.value_or(what_if::kWaitErrorPercentMax));
  asked.query = std::move(query);
  const auto last_import = last_import_now(services);
  if (!last_import) return refusal(last_import.error());
  const auto submitted =
      services.what_if_runs->submit(std::move(asked), *last_import, [&](const WhatIfRun& run) {
        return append(services, request, "what_if.run", fmt::format("run {}", run.id), "",
                      run_facts(run));
      });
  if (!submitted) {
    if (submitted.error().code != ErrorCode::kLimit) return refusal(submitted.error());
    Response busy = problem(429, "Too many requests", submitted.error().message);
    busy.retry_after = kRetryWhenBusy;
    return busy;
  }
  const WhatIfRun& run = submitted->run;
  JsonWriter out;
  write_run(out, run, principal_of(request));
  out.end_object();
  return json(out, submitted->is_new ? 202 : 200);
}

Response get_what_if_run(const Services& services, const Request& request) {
  if (services.what_if_runs == nullptr) return no_what_if();
  ScopedQueries queries(services, request);
  QueryParams params(request);
  queries.convert_to(read_currency(params, services.config.currencies.report));
  if (auto problem = params.problem()) return *std::move(problem);
  const auto run = services.what_if_runs->find(request.param("id"));
  if (!run) return not_found("there is no such run; it may be over a day old: run it again");
  // Whether the ledger has changed since; nothing: it can't be read now.
  std::optional<bool> is_stale;
  std::shared_ptr<const WhatIfTables> tables;
  if (run->tables != nullptr) {
    if (const auto last = last_import_now(services)) is_stale = *last != run->last_import;
    auto shown = shown_tables(queries, *run);
    if (!shown) return refusal(shown.error());
    tables = *std::move(shown);
  }
  JsonWriter out;
  write_run(out, *run, principal_of(request));
  out.field("is_stale", is_stale);
  out.key("tables");
  if (tables == nullptr) {
    out.null();
  } else {
    out.begin_object();
    for (const auto& [name, table] : named_tables(*tables)) {
      if (name == "gantt" || name == "exact") continue;  // long, and asked for by themselves
      out.key(name);
      write_table(out, *table);
    }
    out.key("costs").begin_list();
    for (const Table& table : tables->costs) write_table(out, table);
    out.end_list().key("tier_costs").begin_list();
    for (const Table& table : tables->tier_costs) write_table(out, table);
    out.end_list().end_object();
  }
  out.end_object();
  return json(out);
}

Response get_what_if_table(const Services& services, const Request& request) {
  if (services.what_if_runs == nullptr) return no_what_if();
  const std::string name = request.param("table");
  ScopedQueries queries(services, request);
  QueryParams params(request);
  queries.convert_to(read_currency(params, services.config.currencies.report));
  const bool is_report = name == "report";
  const AnswerFormat format = choose_format(params, request, !is_report);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto run = services.what_if_runs->find(request.param("id"));
  if (!run || run->tables == nullptr) return not_found("there is no result of such a run");
  if (!has_amounts(name)) queries.convert_to(std::nullopt);  // no rates are needed then
  const auto tables = shown_tables(queries, *run);
  if (!tables) return refusal(tables.error());
  if (is_report) return pdf_report(services, *run, **tables);
  if (name == "costs") return answer((*tables)->costs, format, "");
  if (name == "tier_costs") return answer((*tables)->tier_costs, format, "");
  const auto named = named_tables(**tables);
  const auto table =
      std::ranges::find_if(named, [&](const auto& each) { return each.first == name; });
  if (table == named.end()) {
    std::string names = "costs, tier_costs, report";
    for (const auto& each : named) names += fmt::format(", {}", each.first);
    return not_found("the tables of this run are " + names);
  }
  return answer({*table->second}, format, "");
}

Response end_what_if_run(const Services& services, const Request& request) {
  if (services.what_if_runs == nullptr) return no_what_if();
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  const std::string id = request.param("id");
  const auto run = services.what_if_runs->find(id);
  if (!run) return not_found("there is no such run");
  if (!may_end(principal_of(request), *run)) {
    return problem(403, "Forbidden", "Only who started a run may cancel or remove it.");
  }
  const auto recorded =
      append(services, request, "what_if.end", fmt::format("run {}", run->id), run_facts(*run), "");
  if (!recorded) return refusal(recorded.error());
  const auto ended = services.what_if_runs->end(id);
  return ended ? Response{.status = 204} : refusal(ended.error());
}

Response get_what_if_choices(const Services& services, const Request& request) {
  QueryParams params(request);
  const auto month = params.month("month");
  if (!month) params.reject("month", "missing");
  const std::string cluster = params.text("cluster").value_or("");
  if (auto problem = params.problem()) return *std::move(problem);
  const auto choices = ask_ledger(services, [&](Store& store) {
    return what_if_choices(*month, cluster, services.config.join_rules, store);
  });
  if (!choices) return refusal(choices.error());
  JsonWriter out;
  out.begin_object().texts("clusters", choices->clusters).field("cluster", choices->cluster);
  out.key("models").begin_list();
  for (const auto& [name, count] : choices->models) {
    out.begin_object().field("name", name).field("nodes", count).end_object();
  }
  out.end_list().key("pools").begin_list();
  for (const auto& [name, count] : choices->pools) {
    out.begin_object().field("name", name).field("nodes", count).end_object();
  }
  out.end_list();
  std::vector<std::string> dimensions;
  for (const auto& rule : services.config.policy.dimensions) dimensions.push_back(rule.dimension);
  out.texts("dimensions", dimensions);
  out.texts("schedulers", split_names(replay::queue_order_names()));
  out.texts("blocked", split_names(replay::when_blocked_names()));
  out.texts("placements", split_names(replay::placement_rule_names()));
  out.end_object();
  return json(out);
}

}  // namespace pennyweight::api
