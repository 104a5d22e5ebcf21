// GET /api/v1/staleness: the months whose figures are older than their facts, and since when.
#include "reporting/queries/staleness.h"

#include <chrono>

#include "config/config.h"
#include "ledger/store.h"
#include "reporting/live/live_rows.h"
#include "server/api/endpoints.h"
#include "server/api/route_helpers.h"

namespace pennyweight::api {
namespace {

LiveClusters live_clusters(const Services& services) {
  LiveClusters found;
  const auto view = services.live ? services.live() : nullptr;
  if (view == nullptr) return found;
  for (const auto& [cluster, ignored] : view->clusters) found.clusters.insert(cluster);
  // A day waits ten minutes for late samples, and its settlement takes a while.
  constexpr std::chrono::minutes kUntilSettled(30);
  found.first_day = std::chrono::floor<std::chrono::days>(services.clock.now() - kUntilSettled);
  return found;
}

}  // namespace

// Names of files are left to /imports, since readers of a few costs may read this.
server::Response get_staleness(const Services& services, const server::Request& request) {
  QueryParams params(request);
  const auto month = params.month("month");
  if (auto problem = params.problem()) return *std::move(problem);
  const auto stale = ask_ledger(services, [&](Store& store) {
    return query_staleness(store, services.config.policy, live_clusters(services));
  });
  if (!stale) return refusal(stale.error());
  JsonWriter out;
  out.begin_object().key("months").begin_list();
  for (const StaleMonth& one : *stale) {
    if (month && one.month != *month) continue;
    const std::optional<LaterImport> first =
        one.later.empty() ? std::nullopt : std::optional(one.later.front());
    out.begin_object()
        .field("month", one.month)
        .field("allocated_at", one.allocated_at)
        .field("imports_since", one.later_all)
        .field("first_import", first ? std::optional(first->number) : std::nullopt)
        .field("first_import_at", first ? std::optional(first->at) : std::nullopt)
        .end_object();
  }
  out.end_list().end_object();
  return with_body_etag(json(out));
}

}  // namespace pennyweight::api
