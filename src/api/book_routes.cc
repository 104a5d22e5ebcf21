#include "api/book_routes.h"

#include <algorithm>
#include <iterator>

namespace pennyweight::api {

std::vector<server::Route> book_routes(const Parts& parts) {
  std::vector<server::Route> all;
  for (auto* const of : {run_routes, work_routes, policy_routes, import_routes, reconcile_routes,
                         restatement_routes, period_routes, invoice_routes}) {
    std::ranges::move(of(parts), std::back_inserter(all));
  }
  return all;
}

}  // namespace pennyweight::api
