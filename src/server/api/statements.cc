// GET /statements and /statements/{month}: what customers are charged, by month and by part, for
// themselves: nothing of others, of what it cost, or of margins.
//
// Users with a scope see the customers of it, if it has exactly one dimension, the one that
// invoices are made by; with any other scope they see none. A client without a scope sees none
// either.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "core/hash.h"
#include "reporting/queries/client_statement.h"
#include "reporting/queries/selection.h"
#include "server/access/principal.h"
#include "server/api/answers.h"
#include "server/api/endpoints.h"
#include "server/api/route_helpers.h"
#include "server/api/statement_refusal.h"
#include "server/api/tables.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

// Nothing: all of them.
std::optional<std::vector<std::string>> statement_customers(const access::Principal& who,
                                                            const std::string& by) {
  if (!who.is_scoped() && !who.is_client()) return std::nullopt;
  const bool is_of_customers =
      who.scope.size() == 1 && who.scope.front().dimension == by && !who.scope.front().negate;
  return is_of_customers ? who.scope.front().values : std::vector<std::string>();
}

bool sees_no_customer(const std::optional<std::vector<std::string>>& customers) {
  return customers && customers->empty();
}

void write_month(JsonWriter& out, const StatementMonth& one) {
  out.begin_object().field("month", one.month).field("invoiced", one.invoiced).end_object();
}

}  // namespace

Response statement_refusal(const access::Principal& who, const std::string& month,
                           const Error& error) {
  if (!who.is_scoped() && !who.is_client()) return refusal(error);
  return refusal(Error{ErrorCode::kConflict,
                       fmt::format("the statement of {} is not ready: costs have come that are not "
                                   "divided yet; try again later, or ask who invoices you",
                                   month)});
}

Response get_statements(const Services& services, const Request& request) {
  QueryParams params(request);
  if (auto problem = params.problem()) return *std::move(problem);
  const auto customers = statement_customers(principal_of(request), services.config.invoice.by);
  if (sees_no_customer(customers)) {
    return list(std::vector<StatementMonth>(), std::nullopt, write_month);
  }
  const auto months = ask_ledger(
      services, [&](Store& store) { return statement_months(store, services.config, customers); });
  if (!months) return statement_refusal(principal_of(request), "these months", months.error());
  return with_body_etag(list(*months, std::nullopt, write_month));
}

Response get_statement(const Services& services, const Request& request) {
  QueryParams params(request);
  const AnswerFormat format = choose_format(params, request, false);
  if (auto problem = params.problem()) return *std::move(problem);
  const std::string month = request.param("month");
  if (!check_month(month)) return not_found("there is no month '" + month + "'; write 2026-03");
  const auto customers = statement_customers(principal_of(request), services.config.invoice.by);
  if (sees_no_customer(customers)) return answer({}, format, "");
  const auto tables = ask_ledger(services, [&](Store& store) {
    return query_client_statement(
        store, services.config,
        {.month = month, .customers = customers, .now = services.clock.now()});
  });
  // What others were charged in a month is nobody's business, not even whether they were.
  if (!tables && tables.error().code == ErrorCode::kNotFound) return answer({}, format, "");
  if (!tables) return statement_refusal(principal_of(request), month, tables.error());
  return answer(*tables, format, to_text(hash_of(render_json(*tables))));
}

}  // namespace pennyweight::api
