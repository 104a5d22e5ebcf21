// Restatements: what deliveries changed of a bill, both versions, where it is booked, and why.
#include "questions/restatements.h"

#include "api/book_routes.h"
#include "api/books.h"
#include "api/tables.h"
#include "core/hash.h"

namespace pennyweight::api {
namespace {

server::Response restatements(const Parts& parts, const server::Request& request) {
  Asked asked(request);
  const auto month = asked.month("month");
  const AnswerFormat format = format_of(asked, request, false);
  if (auto no = asked.refused()) return *std::move(no);
  const auto found =
      ask_ledger(parts, [&](Store& store) { return ask_restatements(store, month.value_or("")); });
  if (!found) return refusal(found.error());
  const std::vector<Table> tables = found->tables();
  return answer(tables, format, to_text(hash_of(render_json(tables))));
}

}  // namespace

std::vector<server::Route> restatement_routes(const Parts& parts) {
  return {
      {.method = "GET",
       .path = "/api/v1/restatements",
       .handler = [&parts](const server::Request& request) { return restatements(parts, request); },
       .needs = "read_bills"}};
}

}  // namespace pennyweight::api
