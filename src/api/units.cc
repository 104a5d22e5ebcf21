// GET /api/v1/units: what a request, a million tokens or a training job cost.
#include <utility>

#include "api/answers.h"
#include "api/data_routes.h"
#include "api/desk.h"
#include "api/tables.h"
#include "config/config.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

constexpr std::uint64_t kPerMax = 1'000'000'000'000;
constexpr std::uint64_t kTopMax = 10'000;
constexpr std::uint64_t kTopUsual = 1000;

Response units(const Parts& parts, const Request& request) {
  const Desk desk(parts, request);
  const Policy& policy = parts.config.policy;
  Asked asked(request);
  UnitQuestion question;
  question.month = asked.month("month").value_or("");
  if (const auto by = asked.text("by")) question.by = *by;
  question.measures = asked.names("measure");
  question.per = asked.number("per", 1, kPerMax).value_or(0);
  question.jobs = asked.truth("jobs").value_or(false);
  question.top = asked.number("top", 1, kTopMax).value_or(kTopUsual);
  const AnswerFormat format = format_of(asked, request, false);
  if (auto no = asked.refused()) return *std::move(no);
  if (const auto known = check_units(question, policy); !known) return refusal(known.error());
  auto tables = desk.units(std::move(question));
  // Nothing was counted, or nothing is allocated: no table, which is no mistake of who asks.
  if (!tables && tables.error().code == ErrorCode::kNotFound) return answer({}, format, "");
  if (!tables) return refusal(tables.error());
  return answer(*std::move(tables), format, "");
}

}  // namespace

std::vector<server::Route> unit_routes(const Parts& parts) {
  return {{.method = "GET",
           .path = "/api/v1/units",
           .handler = [&parts](const Request& request) { return units(parts, request); },
           .needs = "read_costs"}};
}

}  // namespace pennyweight::api
