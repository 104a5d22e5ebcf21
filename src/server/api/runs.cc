// Runs: allocations by cluster and month, with their policies and prices.
#include <utility>

#include "core/hash.h"
#include "ledger/run.h"
#include "server/api/endpoints.h"
#include "server/api/route_helpers.h"

namespace pennyweight::api {
namespace {

constexpr std::string_view kRunList = "runs";

std::string run_key(const Run& run) {
  return run.scope.cluster.text() + '\n' + run.scope.month + '\n' + ascending_key(run.number);
}

void write_run(JsonWriter& out, const Run& run) {
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

}  // namespace

server::Response get_runs(const Services& services, const server::Request& request) {
  QueryParams params(request);
  const auto month = params.month("month");
  const auto cluster = params.text("cluster");
  const auto current = params.boolean("current");
  const Page page = params.page(kRunList);
  if (auto problem = params.problem()) return *std::move(problem);
  auto all = ask_ledger(services, [](Store& store) { return store.runs(); });
  if (!all) return refusal(all.error());
  std::erase_if(*all, [&](const Run& run) {
    return (month && run.scope.month != *month) ||
           (cluster && run.scope.cluster.text() != *cluster) ||
           (current && run.current != *current);
  });
  const auto part = cut_page(kRunList, page, *std::move(all), run_key);
  return with_body_etag(list(part.entries, part.next, write_run));
}

}  // namespace pennyweight::api
