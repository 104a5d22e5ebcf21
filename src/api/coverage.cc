// GET /api/v1/coverage: how much of the GPU spend reaches somebody, and what stops the rest.
#include <utility>

#include "api/cost_asked.h"
#include "api/data_routes.h"
#include "api/desk.h"
#include "api/tables.h"
#include "audit/audit_tables.h"
#include "config/config.h"

namespace pennyweight::api {
namespace {

using server::Request;
using server::Response;

constexpr std::uint64_t kTopMax = 1000;
constexpr std::uint64_t kTopUsual = 10;

Response coverage(const Parts& parts, const Request& request) {
  const Desk desk(parts, request);
  const Policy& policy = parts.config.policy;
  Asked asked(request);
  CoverageQuestion question;
  question.month = asked.month("month").value_or("");
  std::vector<std::string> by = asked.names("by");
  question.top = asked.number("top", 1, kTopMax).value_or(kTopUsual);
  const AnswerFormat format = format_of(asked, request, false);
  if (by.size() > kGroupByMax) asked.wrong("by", "too many dimensions");
  if (auto no = asked.refused()) return *std::move(no);
  if (by.empty() && !policy.dimensions.empty()) by = {policy.dimensions.front().dimension};
  auto dimensions = covered_dimensions(by, policy);
  if (!dimensions) return refusal(dimensions.error());
  question.dimensions = *std::move(dimensions);
  const std::string what = question.month.empty() ? "all months" : question.month;
  const auto told = desk.coverage(std::move(question));
  if (!told) return refusal(told.error());
  return answer(format == AnswerFormat::kJson ? coverage_tables(told->coverage, told->places, what)
                                              : coverage_rows(told->coverage),
                format, "");
}

}  // namespace

std::vector<server::Route> coverage_routes(const Parts& parts) {
  return {{.method = "GET",
           .path = "/api/v1/coverage",
           .handler = [&parts](const Request& request) { return coverage(parts, request); },
           .needs = "read_costs"}};
}

}  // namespace pennyweight::api
