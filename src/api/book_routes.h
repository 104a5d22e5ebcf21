// The books: runs, work, policies, imports, reconcile, restatements, periods, invoices. What
// finance and auditors look at, a resource a file; all of it is read from the ledger itself.
//
// But for invoices none of it can be cut to a scope, so the guard lets nobody in who is bound to
// one.
#pragma once

#include <vector>

#include "api/parts.h"
#include "server/server.h"

namespace pennyweight::api {

// REQUIRES: the parts outlive the routes.
std::vector<server::Route> book_routes(const Parts& parts);

// Of which they are made.
std::vector<server::Route> run_routes(const Parts& parts);
std::vector<server::Route> work_routes(const Parts& parts);
std::vector<server::Route> policy_routes(const Parts& parts);
std::vector<server::Route> import_routes(const Parts& parts);
std::vector<server::Route> reconcile_routes(const Parts& parts);
std::vector<server::Route> restatement_routes(const Parts& parts);
std::vector<server::Route> period_routes(const Parts& parts);
std::vector<server::Route> invoice_routes(const Parts& parts);

}  // namespace pennyweight::api
