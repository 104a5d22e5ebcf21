// AdmissionService: the webhook of `serve`, which answers the admission reviews of Kubernetes.
//
// It has a listener of its own: reviews have no sign-in (the API server presents none), and what
// reaches this port must reach nothing else. It never opens the ledger, so that may be busy; only
// approvals are read and written, where a rule asks for one. POST /validate and POST /mutate; GET
// /healthz.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>

#include "allocation/pricing/catalog.h"
#include "app/context/log.h"
#include "app/daemon/cluster_listing.h"
#include "app/daemon/limit_watch.h"
#include "app/daemon/review_policies.h"
#include "config/config.h"
#include "config/guardrail_config.h"
#include "core/clock.h"
#include "core/error.h"
#include "insight/guardrails/admission.h"
#include "server/metrics.h"
#include "server/server.h"

namespace pennyweight {

class AdmissionService {
 public:
  // Listens when it returns. All arguments outlive it. REQUIRES: guardrails.admission has an
  // address.
  static Result<std::unique_ptr<AdmissionService>> start(
      const Config& config, const Catalog& catalog, guardrails::ApprovalDesk& approvals,
      const LimitWatch& limits, const ClusterListing& cluster, Clock& clock, Log& log);
  AdmissionService(const Config& config, const Catalog& catalog,
                   guardrails::ApprovalDesk& approvals, const LimitWatch& limits,
                   const ClusterListing& cluster, Clock& clock, Log& log);

  void add_metrics(server::MetricsText& metrics) const;  // any thread
  void stop();

 private:
  static constexpr std::size_t kEndpoints = 2;
  static constexpr std::size_t kOutcomes = std::size(guardrails::kAdmissionOutcomeWords);

  server::Response answer(const server::Request& request, guardrails::AdmissionEndpoint endpoint);

  const AdmissionConfig& admission_;
  const ReviewPolicies policies_;
  const ClusterListing& cluster_;
  Log& log_;
  // Answers by endpoint and outcome, bodies that are no reviews, and the time spent on answers.
  std::array<std::array<std::atomic<std::uint64_t>, kOutcomes>, kEndpoints> answers_ = {};
  std::atomic<std::uint64_t> malformed_ = 0;
  std::atomic<std::uint64_t> nanoseconds_ = 0;
  std::unique_ptr<server::Server> http_;
};

}  // namespace pennyweight
