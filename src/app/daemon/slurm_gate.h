// SlurmGate: the local socket of `serve` on which Slurm's plugins ask before a job is submitted.
//
// A Unix socket, since the kernel says who is at its other end: only slurmctld's user may name the
// user of a job, have approvals used, and have requests filed. One thread answers; a question takes
// well under a millisecond, and slurmctld waits while it asks. One question a connection.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "allocation/pricing/catalog.h"
#include "app/context/log.h"
#include "app/daemon/limit_watch.h"
#include "app/daemon/review_policies.h"
#include "config/config.h"
#include "config/guardrail_config.h"
#include "core/clock.h"
#include "core/error.h"
#include "insight/guardrails/admission.h"
#include "server/metrics.h"

namespace pennyweight {

class SlurmGate {
 public:
  // Listens when it returns. All arguments outlive it. REQUIRES: guardrails.slurm has a socket.
  static Result<std::unique_ptr<SlurmGate>> start(const Config& config, const Catalog& catalog,
                                                  guardrails::ApprovalDesk& approvals,
                                                  const LimitWatch& limits, Clock& clock, Log& log);
  SlurmGate(const Config& config, const Catalog& catalog, guardrails::ApprovalDesk& approvals,
            const LimitWatch& limits, Clock& clock, Log& log);
  ~SlurmGate();
  SlurmGate(const SlurmGate&) = delete;
  SlurmGate& operator=(const SlurmGate&) = delete;

  void add_metrics(server::MetricsText& metrics) const;  // any thread
  void stop();

 private:
  struct Connection;
  static constexpr std::size_t kOutcomes = std::size(guardrails::kAdmissionOutcomeWords);

  Result<void> listen();
  void run();
  void accept_all(std::vector<Connection>& connections);
  bool has_place(const std::vector<Connection>& connections, const Connection& fresh) const;
  // False: the connection is done with.
  bool read_some(Connection& connection);
  std::string answer_whatever_happens(const Connection& connection);
  std::string answer(const Connection& connection);

  const SlurmGateConfig& slurm_;
  const ReviewPolicies policies_;
  Log& log_;
  // By whether it is a submission or only advice, and by outcome.
  std::array<std::array<std::atomic<std::uint64_t>, kOutcomes>, 2> answers_ = {};
  std::atomic<std::uint64_t> malformed_ = 0;
  std::atomic<std::uint64_t> failed_ = 0;
  std::map<std::uint32_t, std::string> daemons_ = {};  // users as which slurmctld runs, by id
  int listener_ = -1;
  int stop_ = -1;  // an event
  std::thread thread_;
};

}  // namespace pennyweight
