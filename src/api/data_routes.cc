#include "api/data_routes.h"

#include <iterator>
#include <utility>

namespace pennyweight::api {

std::vector<server::Route> data_routes(const Parts& parts) {
  std::vector<server::Route> all;
  for (const auto& of :
       {cost_routes, summary_routes, dimension_routes, explain_routes, workload_routes, unit_routes,
        coverage_routes, live_routes, event_routes, fleet_routes}) {
    std::vector<server::Route> some = of(parts);
    all.insert(all.end(), std::make_move_iterator(some.begin()),
               std::make_move_iterator(some.end()));
  }
  return all;
}

}  // namespace pennyweight::api
