// ScheduledViews: sends saved views, each when its day, week or month is over.
//
// A period is sent once its costs are there, at the hour `alerts.digest_hour`, or three days later
// without them. What could not be sent is tried again every ten minutes, and its owner sees why.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>

#include "app/alerting/delivery.h"
#include "app/context/log.h"
#include "config/config.h"
#include "core/error.h"
#include "core/instant.h"
#include "core/interruption.h"
#include "server/access/accounts.h"
#include "server/api/services.h"

namespace pennyweight {

class ScheduledViews {
 public:
  // Starts at once. All of these outlive it.
  ScheduledViews(const Config& config, const api::Services& services, Log& log,
                 Interruption& interruption);
  // Waits for a message that is under way.
  ~ScheduledViews();
  ScheduledViews(const ScheduledViews&) = delete;
  ScheduledViews& operator=(const ScheduledViews&) = delete;

 private:
  void run();
  void send_due();
  Result<void> send(const access::SavedView& view, Date first, Date last, bool is_retry);

  const Config& config_;
  const api::Services& services_;
  Log& log_;
  Delivery delivery_;                               // of the thread alone, as what follows
  std::map<std::uint64_t, Instant> next_try_ = {};  // by view
  std::mutex mutex_;                                // guards stopping_
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others from its first moment
};

}  // namespace pennyweight
