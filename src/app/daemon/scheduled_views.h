// ScheduledViews: sends saved views, each when its day, week or month is over.
//
// A period is sent once its costs are there, at the hour `alerts.digest_hour`, or three days later
// without them. What could not be sent is tried again, later each time and at last every ten
// minutes, and its owner sees why.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/alerting/delivery.h"
#include "app/context/log.h"
#include "config/config.h"
#include "core/date.h"
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
  void send_one(const access::SavedView& view, Date first, Date last, Instant now);
  void note(const access::SavedView& view, const std::string& until, const std::string& problem);
  Result<void> send(const access::SavedView& view, Date first, Date last, bool is_retry);
  std::optional<Date> complete_until(Date today, Instant now);

  const Config& config_;
  const api::Services& services_;
  Log& log_;
  Delivery delivery_;  // of the thread alone, as what follows
  struct Try {
    int failures = 0;
    Instant next = {};
  };
  std::map<std::uint64_t, Try> tries_ = {};  // by view
  // What was sent and could not be noted: it is noted before anything else of the view is sent.
  std::map<std::uint64_t, std::string> unnoted_ = {};
  Instant complete_read_ = {};
  std::optional<Date> complete_until_ = {};
  std::mutex mutex_;  // guards stopping_
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others from its first moment
};

}  // namespace pennyweight
