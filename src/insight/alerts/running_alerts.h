// RunningAlerts: what people see of the alerts of a running `serve`, and what they do about them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/date.h"
#include "core/error.h"
#include "core/instant.h"
#include "insight/alerts/alert.h"

namespace pennyweight {

// A silence that somebody put, beside those of the configuration.
struct PutSilence {
  std::string id;  // 16 hexadecimal digits
  AlertSilence what;
  std::string reason;
  std::string by;
  Instant at = {};
};

// How deliveries to a receiver go.
struct ReceiverState {
  std::string name;
  std::uint64_t waiting = 0;   // notifications to be sent, also those of the next digest
  std::uint64_t given_up = 0;  // of the last 1,000 of all receivers
  std::string problem = {};    // why the last attempt failed; empty: it did not
};

struct AlertsNow {
  bool is_evaluated =
      false;  // false before the first evaluation, and without budgets and receivers
  std::vector<Alert> alerts;  // that hold, by rule and scope
  std::vector<Alert> ended;   // the newest first; the last 500
  std::vector<PutSilence> silences;
  std::vector<ReceiverState> receivers;  // in the order of the configuration
};

// All functions may be called by any thread.
class RunningAlerts {
 public:
  RunningAlerts() = default;
  RunningAlerts(const RunningAlerts&) = delete;
  RunningAlerts& operator=(const RunningAlerts&) = delete;
  virtual ~RunningAlerts() = default;

  virtual AlertsNow now() const = 0;
  // Takes effect at once. kConflict: there are too many already; kIo: it can't be kept.
  virtual Result<void> silence(const PutSilence& silence) = 0;
  // kNotFound: nobody has put it, or it is lifted.
  virtual Result<void> lift(const std::string& id) = 0;
  // Sends `sentence` to a receiver, and waits for its answer. kNotFound: there is no such receiver.
  virtual Result<void> test(const std::string& receiver, const std::string& sentence) = 0;
};

}  // namespace pennyweight
