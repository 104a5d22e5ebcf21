// Delivers notifications to receivers: an Alertmanager, webhooks, Slack, Teams and PagerDuty over
// HTTP, and people by mail.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "config/alert_config.h"
#include "config/mail_config.h"
#include "core/error.h"
#include "core/http/client.h"
#include "insight/alerts/alert.h"

namespace pennyweight {

// What is sent besides alerts: a report of costs, to those who can read one.
struct ReportMessage {
  std::string id;       // the same message again has the same id
  std::string subject;  // one line
  std::string text;
  std::string csv;  // attached to a mail
  std::string file_name;
  std::string json;  // for webhooks
};

// Whether such a receiver takes reports: mail, webhooks and Slack.
bool takes_reports(ReceiverKind kind);

// One thread at a time uses it.
class Delivery {
 public:
  // Secrets and addresses in files are read for each delivery, so that they can be changed.
  Delivery(const AlertConfig& config, const MailConfig& mail);

  // Sends notifications as one message; a webhook and PagerDuty get exactly one. An Error where the
  // receiver can't be reached or refuses; it names the receiver and no secret. Of kBadValue: the
  // receiver answers that it does not take this message. `is_retry`: they may have arrived already.
  // `ongoing`: what a digest by mail lists besides.
  Result<void> send(const ReceiverConfig& receiver,
                    std::span<const AlertNotification> notifications, bool is_retry, Instant now,
                    std::span<const Alert> ongoing = {});
  // Tells an Alertmanager again what goes on, so that it does not take it for ended.
  Result<void> refresh(const ReceiverConfig& receiver,
                       std::span<const AlertNotification> notifications, Instant now);

  // Sends a report as one message. An Error where the receiver can't be reached, refuses it, or is
  // not for reports; it names the receiver and no secret.
  Result<void> send_report(const ReceiverConfig& receiver, const ReportMessage& report,
                           bool is_retry, Instant now);

 private:
  Result<void> post(const ReceiverConfig& receiver, const std::string& path, std::string body,
                    const std::string& id, bool is_retry);

  Result<void> send_mail(const ReceiverConfig& receiver,
                         std::span<const AlertNotification> notifications, bool is_retry,
                         Instant now, std::span<const Alert> ongoing);

  const AlertConfig& config_;
  const MailConfig& mail_;
  http::Client outside_;  // connects to public addresses only
  http::Client inside_;   // for hosts of alerts.allow_private
};

// Whether a receiver hears of it: it may be for some owners only, or for critical alerts only.
bool hears_of(const ReceiverConfig& receiver, const AlertCondition& condition);

// How many notifications such a receiver gets as one message.
std::size_t notifications_per_message(ReceiverKind kind);

// How many of the first of these fit into one message of the receiver, 1 at least; chats refuse
// what is too long as a whole. REQUIRES: not empty, no more than notifications_per_message().
std::size_t count_in_message(const ReceiverConfig& receiver,
                             std::span<const AlertNotification> notifications);

// The host of an address: "[::1]" without its brackets.
std::string host_of(std::string_view url);

}  // namespace pennyweight
