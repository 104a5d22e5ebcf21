// AlertService: evaluates the alert rules while `serve` runs and delivers what they find.
//
// Whatever is to be delivered is on disk before it is sent, and leaves the disk after it has been
// accepted. So every notification arrives at least once, whatever is killed; one that may have
// arrived before is marked as a retry and has the same id.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "app/alerting/alert_finder.h"
#include "app/alerting/alert_state.h"
#include "app/alerting/delivery.h"
#include "app/alerting/delivery_troubles.h"
#include "app/context/log.h"
#include "config/config.h"
#include "core/billing_period.h"
#include "core/clock.h"
#include "insight/alerts/running_alerts.h"
#include "insight/queries/budget_forecasts.h"
#include "insight/queries/forecast_query.h"
#include "reporting/live/live_rows.h"
#include "reporting/queries/costs.h"

namespace pennyweight {

// When a receiver hears of what is found `now`: at once, or with its next digest, at the hour
// `digest_hour` of a day, or of a Monday, in `zone`.
Instant next_message(const ReceiverConfig& receiver, const AlertConfig& config,
                     const TimeZone& zone, Instant now);

class AlertService : public RunningAlerts {
 public:
  // All outlive it. `path`: of the state file.
  AlertService(const Config& config, AlertSources sources, Clock& clock, Log& log,
               std::string path);
  ~AlertService() override;
  AlertService(const AlertService&) = delete;
  AlertService& operator=(const AlertService&) = delete;

  // Reads the state and begins. An Error where the state can't be read.
  Result<void> start();
  void stop();

  // One evaluation and one round of deliveries, without the thread; for tests.
  void run_once();

  // A copy of the state.
  AlertState state() const;

  // As of the last evaluation of all rules; from any thread; never null.
  std::shared_ptr<const std::vector<BudgetStatus>> budgets() const;

  AlertsNow now() const override;
  Result<void> silence(const PutSilence& silence) override;
  Result<void> lift(const std::string& id) override;
  Result<void> test(const std::string& receiver, const std::string& sentence) override;

 private:
  void run();
  // All rules, or only those about devices, beside what the others last found.
  enum class Scope { kAll, kDevices };
  void evaluate(Instant now, Scope scope);
  bool has_purpose();
  void keep_forecasts(Instant now);
  void deliver(Instant now);
  void deliver_to(const std::string& name, std::vector<const OutboxEntry*> entries, Instant now);
  Delivery& delivery_for(const std::string& name);
  void put_back(std::span<const OutboxEntry* const> entries);
  std::deque<OutboxEntry>::iterator find_entry(const OutboxEntry& entry);
  void add_approval_links(std::span<AlertNotification> message);
  void refresh(Instant now);
  // Whether anything waits to be sent now that did not before.
  bool enqueue(std::span<const AlertNotification> notifications, Instant now);
  std::vector<OutboxEntry> take_due(Instant now);
  void note_delivered(const OutboxEntry& entry, Instant now);
  void settle(const OutboxEntry& entry, const std::string& problem, bool has_receiver, Instant now);
  std::vector<AlertSilence> silences(Instant now) const;
  bool take_back(const ReceiverConfig& receiver, const Alert& alert);
  void keep_ended(std::span<const Alert> ended, Instant now);
  // Applies the silences to what holds now, and keeps them, or undoes the change.
  Result<void> keep_silences(std::vector<PutSilence> before);
  bool save();
  const ReceiverConfig* find_receiver(const std::string& name) const;  // null: there is none
  // What goes on, was told and is for it.
  std::vector<Alert> firing_for(const ReceiverConfig& receiver) const;

  const Config& config_;
  Clock& clock_;
  Log& log_;
  const std::string path_;
  // The rest until mutex_ is of the thread that evaluates.
  Delivery delivery_;  // of what an Alertmanager is told again
  AlertFinder finder_;
  std::optional<Instant> kept_forecasts_;        // when that was last asked for
  std::mutex links_mutex_;                       // one thread at a time makes links for approvals
  mutable std::mutex mutex_;                     // guards what follows up to changed_
  std::map<std::string, std::string> reported_;  // problems that were logged, by what failed
  DeliveryTroubles troubles_;
  // By receiver; each is used by the one thread that delivers to it.
  std::map<std::string, std::unique_ptr<Delivery>> deliveries_;
  AlertState state_;
  bool is_unsaved_ = true;  // something of the book is not as on disk
  bool is_evaluated_ = false;
  std::shared_ptr<const std::vector<BudgetStatus>> budgets_ =
      std::make_shared<const std::vector<BudgetStatus>>();
  bool stopping_ = false;
  std::condition_variable changed_;
  std::thread thread_;  // last: it uses the others from its first moment
};

}  // namespace pennyweight
