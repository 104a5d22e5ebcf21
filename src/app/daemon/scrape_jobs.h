// The scrape jobs of the configuration: what a ScrapePool asks, and what becomes of the answers.
#pragma once

#include <map>
#include <vector>

#include "app/context/log.h"
#include "app/daemon/live_source.h"
#include "config/config.h"
#include "telemetry/collect/scrape_pool.h"
#include "telemetry/live/engine.h"

namespace pennyweight {

// An Error of wrong usage where a job looks for pods of a cluster whose API is not watched: pods
// are found through it.
Result<void> check_scrape_jobs(const LiveConfig& config);

// `apis` are the watched Kubernetes APIs; they outlive the jobs. REQUIRES: check_scrape_jobs().
std::vector<collect::PoolJob> make_scrape_jobs(
    const LiveConfig& config, const std::map<ClusterId, const KubernetesSource*>& apis);

// Hands one scrape to the engine, and logs what is wrong with it.
void ingest_scrape(live::Engine& engine, const collect::Target& target,
                   const collect::ScrapedBody& scraped, Log& log);

}  // namespace pennyweight
