// Budgets that people set: PUT and DELETE /api/v1/budgets/{name}, their definitions and versions.
#include "server/budget_book/budget_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "config/config.h"
#include "core/try.h"
#include "reporting/queries/selection.h"
#include "server/api/answers.h"
#include "server/api/audit_log.h"
#include "server/api/budget_scope.h"
#include "server/api/endpoints.h"
#include "server/api/recorded_change.h"
#include "server/api/route_helpers.h"
#include "server/budget_book/budget_json.h"

namespace pennyweight::api {
namespace {

using server::problem;
using server::Request;
using server::Response;

constexpr std::string_view kDefinitionList = "budget_definitions";
constexpr std::string_view kSetAction = "budget.set";
constexpr std::string_view kRemoveAction = "budget.remove";

Response no_book() {
  return problem(503, "Service unavailable", "This server has no book of budgets.");
}

bool is_configured(const Services& services, const std::string& name) {
  const auto& all = services.config.budgets;
  return std::ranges::find(all, name, &Budget::name) != all.end();
}

Response configured_budget(const std::string& name) {
  return problem(409, "Conflict",
                 fmt::format("Budget '{}' is part of the configuration; change it there.", name));
}

Response out_of_scope() {
  return problem(
      403, "Forbidden",
      "The budget's filter has to name some of the values of your scope, and no others.");
}

// The budget that somebody has set, if the user may see it.
Result<std::optional<Budget>> known_budget(const Services& services, const Request& request,
                                           const std::string& name) {
  auto all = services.budget_book->budgets();
  if (!all) return std::unexpected(all.error());
  const auto found = std::ranges::find(*all, name, &Budget::name);
  if (found == all->end()) return std::nullopt;
  if (!is_in_scope(*found, principal_of(request), services.config.policy)) return std::nullopt;
  return *std::move(found);
}

// Whether somebody has set a budget of this name that the user does not see.
Result<bool> is_hidden(const Services& services, const Request& request, const std::string& name) {
  const auto all = services.budget_book->budgets();
  if (!all) return std::unexpected(all.error());
  const auto found = std::ranges::find(*all, name, &Budget::name);
  return found != all->end() && !is_in_scope(*found, principal_of(request), services.config.policy);
}

// One budget is changed at a time.
BudgetBook::Recorder recorder(const Services& services, const Request& request,
                              std::string_view action) {
  return [&services, &request, action](std::span<const BudgetReplacement> changes) -> Result<void> {
    for (const BudgetReplacement& one : changes) {
      TRY(append(services, request, action, "budget " + one.name(),
                 one.before ? budget_json(*one.before) : "",
                 one.after ? budget_json(*one.after) : ""));
    }
    return {};
  };
}

Response definition(const Services& services, const Budget& budget, int status = 200) {
  JsonWriter out;
  out.begin_object()
      .raw_field("budget", budget_json(budget))
      .field("is_configured", is_configured(services, budget.name))
      .end_object();
  return json(out, status);
}

}  // namespace

Response get_budget_definitions(const Services& services, const Request& request) {
  QueryParams params(request);
  const Page page = params.page(kDefinitionList);
  if (auto problem = params.problem()) return *std::move(problem);
  auto all = visible_budgets(services, principal_of(request));
  if (!all) return refusal(all.error());
  const auto key = [](const Budget& budget) { return budget.name; };
  std::ranges::sort(*all, {}, key);
  const auto part = cut_page(kDefinitionList, page, *std::move(all), key);
  return list(part.entries, part.next, [&](JsonWriter& out, const Budget& budget) {
    out.begin_object()
        .raw_field("budget", budget_json(budget))
        .field("is_configured", is_configured(services, budget.name))
        .end_object();
  });
}

Response set_budget(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  if (services.budget_book == nullptr) return no_book();
  const std::string name(request.param("name"));
  JsonBody body(request);
  if (request.body.empty()) return bad_parameter("amount", "missing");
  if (auto problem = body.unreadable()) return *std::move(problem);
  const auto budget = parse_budget_json(request.body, name);
  if (!budget) return refusal(budget.error());
  if (budget->name != name) return bad_parameter("name", "the address names another budget");
  if (is_configured(services, name)) return configured_budget(name);
  const Policy& policy = services.config.policy;
  for (const std::string& filter : budget->filters) {
    if (const auto sound = parse_filter(filter, policy); !sound) {
      return bad_parameter("filter", sound.error().message);
    }
  }
  // A name that is taken elsewhere is told, since the change can't be made; nothing else of it is.
  const auto hidden = is_hidden(services, request, name);
  if (!hidden) return refusal(hidden.error());
  if (*hidden || !is_in_scope(*budget, principal_of(request), policy)) return out_of_scope();
  const auto set =
      services.budget_book->set({&*budget, 1}, actor_name(principal_of(request)),
                                services.clock.now(), recorder(services, request, kSetAction));
  if (!set) {
    record_failure(services.audit_log, author_of(request), kSetAction, "budget " + name,
                   set.error());
    return refusal(set.error());
  }
  return definition(services, *budget);
}

Response remove_budget(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  if (services.budget_book == nullptr) return no_book();
  const std::string name(request.param("name"));
  if (is_configured(services, name)) return configured_budget(name);
  const auto known = known_budget(services, request, name);
  if (!known) return refusal(known.error());
  if (!*known) return not_found(fmt::format("nobody has set a budget '{}'", name));
  const auto removed =
      services.budget_book->remove(name, actor_name(principal_of(request)), services.clock.now(),
                                   recorder(services, request, kRemoveAction));
  if (removed) return Response{.status = 204};
  record_failure(services.audit_log, author_of(request), kRemoveAction, "budget " + name,
                 removed.error());
  return refusal(removed.error());
}

Response get_budget_versions(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  const std::string name(request.param("name"));
  std::vector<BudgetChange> changes;
  if (services.budget_book != nullptr) {
    auto all = services.budget_book->history(name);
    if (!all) return refusal(all.error());
    changes = *std::move(all);
  }
  // A version that lay elsewhere is not shown.
  const access::Principal& who = principal_of(request);
  bool is_seen = !who.is_scoped();
  std::erase_if(changes, [&](const BudgetChange& change) {
    if (change.budget) is_seen = is_in_scope(*change.budget, who, services.config.policy);
    return !is_seen;
  });
  if (changes.empty()) return not_found(fmt::format("nobody has set a budget '{}'", name));
  return list(changes, std::nullopt, [](JsonWriter& out, const BudgetChange& change) {
    out.begin_object()
        .field("number", change.number)
        .field("at", change.at)
        .field("by", change.by)
        .raw_field("budget", change.budget ? budget_json(*change.budget) : "null")
        .end_object();
  });
}

}  // namespace pennyweight::api
