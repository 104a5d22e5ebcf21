#include "app/daemon/admission_service.h"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "config/guardrail_config.h"
#include "core/plain_text.h"
#include "core/try.h"

namespace pennyweight {
namespace {

using guardrails::AdmissionEndpoint;
using guardrails::AdmissionOutcome;

constexpr std::string_view kEndpointNames[] = {"validate", "mutate"};
constexpr std::size_t kShownBytesMax = 2000;

}  // namespace

AdmissionService::AdmissionService(const Config& config, const Catalog& catalog,
                                   guardrails::ApprovalDesk& approvals, const LimitWatch& limits,
                                   const ClusterListing& cluster, Clock& clock, Log& log)
    : admission_(config.guardrails->admission),
      policies_(config, catalog, approvals, limits, clock),
      cluster_(cluster),
      log_(log) {}

Result<std::unique_ptr<AdmissionService>> AdmissionService::start(
    const Config& config, const Catalog& catalog, guardrails::ApprovalDesk& desk,
    const LimitWatch& limits, const ClusterListing& cluster, Clock& clock, Log& log) {
  auto service =
      std::make_unique<AdmissionService>(config, catalog, desk, limits, cluster, clock, log);
  AdmissionService* const self = service.get();
  // A mistake in the pricing options shows now, and not as every review that can't be judged.
  std::ignore = TRY(guardrails::estimate_workloads({}, catalog, config.guardrails->pricing));
  const auto route = [self](std::string path, AdmissionEndpoint endpoint) {
    return server::Route{
        .method = "POST",
        .path = std::move(path),
        .open = true,
        .handler = [self, endpoint](
                       const server::Request& request) { return self->answer(request, endpoint); },
        .body_bytes_max = guardrails::kReviewBytesMax};
  };
  const AdmissionConfig& admission = config.guardrails->admission;
  service->http_ = TRY(server::Server::start(
      {.host = admission.host,
       .port = admission.port,
       .body_bytes_max = guardrails::kReviewBytesMax,
       .cert_file = admission.tls_cert_file,
       .key_file = admission.tls_key_file,
       .client_ca_file = admission.tls_client_ca_file,
       .failed =
           [self](std::string_view path, std::string_view what) {
             self->log_.error("request", {{"path", std::string(path)}, {"why", std::string(what)}});
           }},
      {route("/validate", AdmissionEndpoint::kValidate),
       route("/mutate", AdmissionEndpoint::kMutate),
       {.method = "GET",
        .path = "/healthz",
        .open = true,
        .handler = [](const server::Request&) { return server::Response{.body = "ok\n"}; },
        .is_health = true}}));
  log.info("admission", {{"address", fmt::format("{}:{}", admission.host, service->http_->port())},
                         {"rules", std::uint64_t{config.guardrails->rules.size()}},
                         {"unknown", std::string(admission.admits_unknown ? "allow" : "deny")}});
  return service;
}

server::Response AdmissionService::answer(const server::Request& request,
                                          AdmissionEndpoint endpoint) {
  const auto begin = std::chrono::steady_clock::now();
  auto current = policies_.current();
  guardrails::AdmissionPolicy& policy = current.policy;
  policy.exempt_namespaces = admission_.exempt_namespaces;
  policy.controllers = admission_.controllers;
  policy.admits_unknown = admission_.admits_unknown;
  const auto cluster = cluster_.current();
  policy.cluster = cluster.get();
  const auto answered = guardrails::answer_review(request.body, endpoint, policy, current.today);
  const auto spent = std::chrono::steady_clock::now() - begin;
  nanoseconds_ += static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count());
  if (!answered) {
    ++malformed_;
    // Without a review there is no answer to it: the API server does what failurePolicy says.
    return server::problem(400, "Bad request", answered.error().message);
  }
  ++answers_[static_cast<std::size_t>(endpoint)][static_cast<std::size_t>(answered->outcome)];
  const bool is_noted = !answered->is_allowed || answered->outcome == AdmissionOutcome::kUnknown;
  if (is_noted && endpoint == AdmissionEndpoint::kValidate) {
    log_.info("admission_review",
              {{"allowed", std::string(answered->is_allowed ? "true" : "false")},
               {"workload", answered->workload},
               {"user", answered->user},
               {"why", printable_text(answered->message, kShownBytesMax)}});
  }
  return {.content_type = "application/json", .body = answered->body};
}

void AdmissionService::add_metrics(server::MetricsText& metrics) const {
  metrics.family("pennyweight_admission_reviews_total", "counter",
                 "Admission reviews of Kubernetes, by endpoint and outcome.");
  for (std::size_t endpoint = 0; endpoint < kEndpoints; ++endpoint) {
    for (std::size_t outcome = 0; outcome < kOutcomes; ++outcome) {
      metrics.sample({{"endpoint", std::string(kEndpointNames[endpoint])},
                      {"outcome", std::string(guardrails::kAdmissionOutcomeWords[outcome])}},
                     answers_[endpoint][outcome].load());
    }
  }
  metrics.family("pennyweight_admission_malformed_total", "counter",
                 "Requests to the webhook that were no admission reviews.");
  metrics.sample({}, malformed_.load());
  metrics.family("pennyweight_admission_seconds_total", "counter",
                 "Time spent on judging reviews.");
  const std::uint64_t micros = nanoseconds_.load() / 1000;
  metrics.sample({}, fmt::format("{}.{:06}", micros / 1'000'000, micros % 1'000'000));
}

void AdmissionService::stop() { http_->stop(); }

}  // namespace pennyweight
