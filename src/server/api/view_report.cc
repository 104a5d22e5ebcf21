#include "server/api/view_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "core/try.h"
#include "reporting/minor_unit.h"
#include "reporting/queries/costs.h"
#include "reporting/queries/selection.h"
#include "reporting/table.h"
#include "server/access/principal.h"
#include "server/api/answers.h"
#include "server/api/cost_params.h"
#include "server/api/cost_tables.h"
#include "server/api/guard.h"
#include "server/api/scoped_queries.h"
#include "server/api/tables.h"
#include "server/request_text.h"
#include "server/server.h"

namespace pennyweight::api {
namespace {

constexpr std::string_view kExplorePage = "/explore";
// A mail with more is read by nobody; the page has all of it.
constexpr std::size_t kReportRowsMax = 1000;
constexpr std::size_t kReportColumns = 100;

// The page's parameters as those of GET /costs.
Result<CostQuery> cost_query_of(const Services& services, const access::SavedView& view, Date first,
                                Date last) {
  const auto target = server::read_target(view.query);
  if (!target) return fail(ErrorCode::kBadValue, "the view's address can't be read");
  server::Request request;
  request.path = "/api/v1/costs";
  for (const char* name : {"by", "filter", "cost", "currency"}) {
    const auto [begin, end] = target->query.equal_range(name);
    for (auto one = begin; one != end; ++one) request.query.insert(*one);
  }
  QueryParams params(request);
  CostQuery query =
      read_cost_query(params, services.config.policy, services.config.currencies.report);
  if (const auto problem = params.problem()) {
    return fail(ErrorCode::kBadValue, "the view's address has a parameter that can't be read");
  }
  if (!request.query.contains("by")) {
    query.by = {usual_grouping(services.config.policy, query.filters)};
  }
  query.dates = {.month = "", .from = to_text(first), .to = to_text(last)};
  return query;
}

std::string period_name(Date first, Date last) {
  return first == last ? to_text(first) : fmt::format("{} to {}", to_text(first), to_text(last));
}

std::string sum_of(const std::vector<Table>& tables) {
  std::string text;
  for (const Table& table : tables) {
    if (!table.total || !table.currency) continue;
    for (const Cell& cell : *table.total) {
      const Money* const sum = std::get_if<Money>(&cell);
      if (sum == nullptr) continue;
      text += fmt::format("{}{}", text.empty() ? "" : " + ",
                          fmt::format("{} {}", sum->currency().text(), format_minor(*sum)));
      break;
    }
  }
  return text.empty() ? "no costs" : text;
}

std::string tables_text(const std::vector<Table>& tables) {
  const TextStyle style{.width = kReportColumns};
  std::string text;
  for (const Table& table : tables) text += render_text(table, style) + "\n";
  return text;
}

Result<access::Principal> owner_of(const access::User& user) {
  access::Principal owner{
      .name = user.name, .display_name = user.display_name, .role = user.role, .scope = user.scope};
  if (user.disabled || !may_access(owner, access::Permission::kReadCosts)) {
    return fail(ErrorCode::kUnsupported, fmt::format("{} may no longer read costs", user.name));
  }
  return owner;
}

}  // namespace

std::string usual_grouping(const Policy& policy, const std::vector<std::string>& filters) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const char* usual : {"team", "project", "user"}) {
    const bool is_known = std::ranges::find(policy.dimensions, usual, &DimensionRule::dimension) !=
                          policy.dimensions.end();
    if (is_known) add(usual);
  }
  for (const DimensionRule& rule : policy.dimensions) add(rule.dimension);
  std::vector<std::string> fixed;
  for (const std::string& text : filters) {
    const auto parts = parse_filter(text, policy);
    if (!parts) continue;  // the query says what is wrong with it
    for (const SummaryFilter& part : *parts) {
      if (!part.negate && part.values.size() == 1) fixed.push_back(part.dimension);
    }
  }
  for (const std::string& name : names) {
    if (std::ranges::find(fixed, name) == fixed.end()) return name;
  }
  return "workload";
}

std::pair<Date, Date> last_period(access::ViewPeriod every, Date today) {
  using std::chrono::days;
  switch (every) {
    case access::ViewPeriod::kDay:
      return {today - days(1), today - days(1)};
    case access::ViewPeriod::kWeek: {
      const days since_monday = std::chrono::weekday(today) - std::chrono::Monday;
      const Date monday = today - since_monday;
      return {monday - days(7), monday - days(1)};
    }
    case access::ViewPeriod::kMonth: {
      const std::chrono::year_month_day date(today);
      const Date first(date.year() / date.month() / 1);
      const std::chrono::year_month_day before(first - days(1));
      return {Date(before.year() / before.month() / 1), first - days(1)};
    }
  }
  return {today - days(1), today - days(1)};
}

std::optional<std::pair<Date, Date>> due_period(const access::ViewSchedule& schedule, Date today,
                                                std::optional<Date> complete_until) {
  constexpr int kPeriodsBack = 7;
  const auto is_ready = [&](const std::pair<Date, Date>& period) {
    return (complete_until && *complete_until >= period.second) ||
           today - period.second > kViewWaits;
  };
  std::optional<std::pair<Date, Date>> earliest;
  auto period = last_period(schedule.every, today);
  for (int i = 0; i < kPeriodsBack; ++i) {
    // Dates as texts are in the order of time.
    if (schedule.sent_until >= to_text(period.second)) break;
    if (schedule.sent_until.empty() && is_ready(period)) return period;
    earliest = period;
    period = last_period(schedule.every, period.first);
  }
  return earliest && is_ready(*earliest) ? earliest : std::nullopt;
}

Result<void> check_sendable_view(const access::SavedView& view) {
  const auto target = server::read_target(view.query);
  if (target && target->path == kExplorePage) return {};
  return fail(ErrorCode::kBadValue, "only views of Explore can be sent on a schedule");
}

Result<ViewReport> view_report(const Services& services, const access::SavedView& view, Date first,
                               Date last) {
  TRY(check_sendable_view(view));
  const auto user = TRY(services.accounts.find_user(view.user));
  if (!user) return fail(ErrorCode::kNotFound, fmt::format("there is no user {}", view.user));
  const access::Principal owner = TRY(owner_of(*user));
  const ScopedQueries queries(services, owner);
  const CostQuery query = TRY(cost_query_of(services, view, first, last));
  const CostPlan plan = TRY(plan_cost_query(query, services.config.policy));
  auto tables = TRY(cost_tables(services, queries, plan, kReportRowsMax));

  const std::string period = period_name(first, last);
  ViewReport report{
      .subject = fmt::format("[pennyweight] {}: {}, {}", view.name, period, sum_of(tables)),
      .text =
          fmt::format("{}, {}\n\n{}", view.name, period,
                      tables.empty() ? "There are no costs of these days.\n" : tables_text(tables)),
      .csv = "",
      .file_name = fmt::format("costs-{}-{}.csv", to_text(first), to_text(last)),
      .json = "",
      .address = user->email,
      .may_tell_others = may_access(owner, access::Permission::kManageBudgets)};
  report.text +=
      fmt::format("\nThe page: {}\nSent since {} scheduled this view; Explore, Views, ends it.\n",
                  view.query, view.user);
  JsonWriter out;
  out.begin_object().key("view").begin_object();
  out.field("id", view.id).field("name", view.name).field("owner", view.user);
  out.field("query", view.query).end_object().key("period").begin_object();
  out.field("from", to_text(first)).field("to", to_text(last)).end_object();
  out.key("tables").begin_list();
  for (const Table& table : tables) write_table(out, table);
  out.end_list().end_object();
  report.json = out.text();
  const server::Response sheet = answer(std::move(tables), AnswerFormat::kSheet, "");
  report.csv = sheet.body;
  if (sheet.stream) {
    std::ignore = sheet.stream([&](std::string_view piece) {
      report.csv += piece;
      return true;
    });
  }
  return report;
}

}  // namespace pennyweight::api
