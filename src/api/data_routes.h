// The routes of money and machines: what a scope can be cut to. Each gets its answers from a Desk.
#pragma once

#include <vector>

#include "api/parts.h"
#include "server/server.h"

namespace pennyweight::api {

// REQUIRES: `parts` outlives the routes.
std::vector<server::Route> data_routes(const Parts& parts);

// Routes of one file each, for data_routes().
std::vector<server::Route> cost_routes(const Parts& parts);       // /costs
std::vector<server::Route> summary_routes(const Parts& parts);    // /summary
std::vector<server::Route> dimension_routes(const Parts& parts);  // /dimensions
std::vector<server::Route> explain_routes(const Parts& parts);    // /explain
std::vector<server::Route> workload_routes(const Parts& parts);   // /workloads, /workload
std::vector<server::Route> unit_routes(const Parts& parts);       // /units
std::vector<server::Route> coverage_routes(const Parts& parts);   // /coverage
std::vector<server::Route> live_routes(const Parts& parts);       // /live, /live/now, /top
std::vector<server::Route> event_routes(const Parts& parts);      // /events
std::vector<server::Route> fleet_routes(const Parts& parts);      // /fleet

}  // namespace pennyweight::api
