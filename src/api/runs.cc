// Runs: which allocations there were, of which cluster and month, by which rules and prices.
#include <utility>

#include "api/book_routes.h"
#include "api/books.h"
#include "core/hash.h"
#include "ledger/run.h"

namespace pennyweight::api {
namespace {

constexpr std::string_view kList = "runs";

std::string key_of(const Run& run) {
  return run.scope.cluster.text() + '\n' + run.scope.month + '\n' + in_order(run.number);
}

void write(JsonWriter& out, const Run& run) {
  out.begin_object()
      .field("cluster", run.scope.cluster.text())
      .field("month", run.scope.month)
      .field("number", run.number)
      .field("current", run.current)
      .field("at", run.at)
      .field("policy_version", to_text(run.policy_version))
      .field("catalog_version", to_text(run.catalog_version))
      .field("time_zone", run.time_zone)
      .field("program_version", run.program_version)
      .field("postings", run.postings)
      .field("digest", to_text(run.postings_digest))
      .end_object();
}

server::Response runs(const Parts& parts, const server::Request& request) {
  Asked asked(request);
  const auto month = asked.month("month");
  const auto cluster = asked.text("cluster");
  const auto current = asked.truth("current");
  const Page page = asked.page(kList);
  if (auto no = asked.refused()) return *std::move(no);
  auto all = ask_ledger(parts, [](Store& store) { return store.runs(); });
  if (!all) return refusal(all.error());
  std::erase_if(*all, [&](const Run& run) {
    return (month && run.scope.month != *month) ||
           (cluster && run.scope.cluster.text() != *cluster) ||
           (current && run.current != *current);
  });
  const auto part = page_of(kList, page, *std::move(all), key_of);
  return with_version(list(part.entries, part.next, write));
}

}  // namespace

std::vector<server::Route> run_routes(const Parts& parts) {
  return {{.method = "GET",
           .path = "/api/v1/runs",
           .handler = [&parts](const server::Request& request) { return runs(parts, request); },
           .needs = "read_rules"}};
}

}  // namespace pennyweight::api
