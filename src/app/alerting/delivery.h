// Delivers notifications to receivers over HTTP: an Alertmanager, webhooks, Slack and Teams.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "config/alert_config.h"
#include "core/error.h"
#include "core/http/client.h"
#include "insight/alerts/alert.h"

namespace pennyweight {

// One thread at a time uses it.
class Delivery {
 public:
  // Secrets and addresses in files are read for each delivery, so that they can be changed.
  explicit Delivery(const AlertConfig& config);

  // Sends notifications as one message; a webhook gets exactly one. An Error where the receiver
  // can't be reached or refuses; it names the receiver and no secret. `is_retry`: they may have
  // arrived already.
  Result<void> send(const ReceiverConfig& receiver,
                    std::span<const AlertNotification> notifications, bool is_retry, Instant now);
  // Tells an Alertmanager again what goes on, so that it does not take it for ended.
  Result<void> refresh(const ReceiverConfig& receiver,
                       std::span<const AlertNotification> notifications, Instant now);

 private:
  Result<void> post(const ReceiverConfig& receiver, const std::string& path, std::string body,
                    const std::string& id, bool is_retry);

  const AlertConfig& config_;
  http::Client outside_;  // connects to public addresses only
  http::Client inside_;   // for hosts of alerts.allow_private
};

// How many notifications such a receiver gets as one message.
std::size_t notifications_per_message(ReceiverKind kind);

// The host of an address: "[::1]" without its brackets.
std::string host_of(std::string_view url);

}  // namespace pennyweight
