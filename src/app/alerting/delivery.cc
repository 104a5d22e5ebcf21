#include "app/alerting/delivery.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "app/context/mail_server.h"
#include "core/base_encoding.h"
#include "core/crypto/sha256.h"
#include "core/files/disk.h"
#include "core/json_text.h"
#include "core/mail/message.h"
#include "core/mail/smtp.h"
#include "core/try.h"
#include "insight/alerts/alert_mail.h"
#include "insight/alerts/pager_duty.h"

namespace pennyweight {
namespace {

constexpr std::size_t kSecretBytesMax = 64u << 10;
constexpr std::size_t kAnswerBytesMax = 1u << 20;
// An Alertmanager takes an alert for ended when it has not heard of it for so many evaluations, as
// with Prometheus.
constexpr int kEvaluationsValid = 4;
constexpr std::chrono::milliseconds kValidMin{300'000};
constexpr std::chrono::milliseconds kMailTimeout{20'000};
// A message of Slack is cut at 40,000 characters, and a card of more than 28 KB is refused by
// Teams: of the texts, before they are JSON.
constexpr std::size_t kChatBytesMax = 20'000;

// What a receiver answers that is there and does not take this body; others say something of the
// receiver or of its address.
constexpr int kRefusals[] = {400, 413, 422};

http::Settings client_settings(bool is_public_only) {
  return {.body_bytes_max = kAnswerBytesMax, .public_addresses_only = is_public_only};
}

Result<std::string> secret_line(const std::string& path) {
  auto text = TRY(read_raw_file(path, kSecretBytesMax));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.pop_back();
  }
  if (text.empty()) return fail(ErrorCode::kConfig, path + " is empty");
  return text;
}

}  // namespace

namespace {

// No name makes a link, calls everybody, or ends the block of the table.
std::string plain_for_slack(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (c == '&') {
      plain += "&amp;";
    } else if (c == '<') {
      plain += "&lt;";
    } else if (c == '>') {
      plain += "&gt;";
    } else {
      plain += c == '`' ? '\'' : c;
    }
  }
  return plain;
}

// What went wrong, with the host alone: whoever knows the whole address of a chat's webhook writes
// into that chat.
std::string without_address(std::string message, const std::string& url) {
  const std::size_t end = message.find(": ");
  const bool has_address = end != std::string::npos && message.find("://") < end;
  if (has_address) message.replace(0, end, host_of(url));
  const std::string after_scheme = url.substr(std::min(url.size(), url.find("://") + 3));
  const std::size_t path = std::min(after_scheme.size(), after_scheme.find_first_of("/?#"));
  const std::size_t user = after_scheme.substr(0, path).rfind('@');
  const std::string secrets[] = {after_scheme.substr(path),
                                 user == std::string::npos ? "" : after_scheme.substr(0, user)};
  for (const std::string& secret : secrets) {
    if (secret.size() <= 1) continue;
    for (auto at = message.find(secret); at != std::string::npos; at = message.find(secret, at)) {
      message.replace(at, secret.size(), "…");
    }
  }
  return message;
}

}  // namespace

std::string host_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return "";
  std::string_view rest = url.substr(scheme + 3);
  rest = rest.substr(0, rest.find_first_of("/?#\\"));
  const std::size_t user = rest.rfind('@');
  if (user != std::string_view::npos) rest = rest.substr(user + 1);
  if (rest.starts_with('[')) {
    return std::string(rest.substr(1, rest.find(']') - 1));
  }
  return std::string(rest.substr(0, rest.find(':')));
}

Delivery::Delivery(const AlertConfig& config, const MailConfig& mail)
    : config_(config),
      mail_(mail),
      outside_(client_settings(true)),
      inside_(client_settings(false)) {}

Result<void> Delivery::post(const ReceiverConfig& receiver, const std::string& path,
                            std::string body, const std::string& id, bool is_retry) {
  std::string url = receiver.url;
  if (!receiver.url_file.empty()) url = TRY(secret_line(receiver.url_file));
  while (!path.empty() && url.ends_with('/')) url.pop_back();
  const bool is_secret_safe = url.starts_with("https://") || host_of(url) == "127.0.0.1";
  if (receiver.has_approval_links && !is_secret_safe) {
    return fail(ErrorCode::kConfig,
                fmt::format("receiver '{}': with approval_links its address begins with https://, "
                            "since whoever reads a link may decide by it",
                            receiver.name));
  }
  http::Request request{.method = "POST", .url = url + path, .body = std::move(body)};
  request.headers = {{"Content-Type", "application/json"}};
  if (receiver.kind == ReceiverKind::kWebhook) {
    request.headers.emplace_back("X-Pennyweight-Id", to_hex(sha256(id)).substr(0, 32));
    if (is_retry) request.headers.emplace_back("X-Pennyweight-Retry", "true");
    if (!receiver.secret_file.empty()) {
      const auto secret = TRY(secret_line(receiver.secret_file));
      request.headers.emplace_back("X-Pennyweight-Signature",
                                   "sha256=" + to_hex(hmac_sha256(secret, request.body)));
    }
  }
  const bool is_allowed =
      std::ranges::find(config_.allow_private, host_of(url)) != config_.allow_private.end();
  http::Client& client = is_allowed ? inside_ : outside_;
  const auto response = client.send(request);
  if (!response) {
    const std::string hint =
        is_allowed ? "" : "; a private address needs its host in alerts.allow_private";
    return fail(ErrorCode::kIo,
                fmt::format("receiver '{}': {}{}", receiver.name,
                            without_address(response.error().message, request.url), hint));
  }
  if (response->status >= 200 && response->status < 300) return {};
  const bool is_refusal = std::ranges::find(kRefusals, response->status) != std::end(kRefusals);
  return fail(is_refusal ? ErrorCode::kBadValue : ErrorCode::kIo,
              fmt::format("receiver '{}' answers with {}", receiver.name, response->status));
}

bool hears_of(const ReceiverConfig& receiver, const AlertCondition& condition) {
  if (receiver.is_critical_only && condition.severity != AlertSeverity::kCritical) return false;
  // Whoever hears of everything hears of several with one cause once.
  if (receiver.owners.empty()) return !condition.is_in_incident();
  return std::ranges::find(receiver.owners, condition.owner) != receiver.owners.end();
}

std::size_t notifications_per_message(ReceiverKind kind) {
  switch (kind) {
    case ReceiverKind::kAlertmanager:
      return 100;
    case ReceiverKind::kWebhook:
    case ReceiverKind::kPagerDuty:
      return 1;
    case ReceiverKind::kEmail:
      return 200;
    case ReceiverKind::kSlack:
    case ReceiverKind::kTeams:
      return 20;
  }
  return 1;
}

std::size_t count_in_message(const ReceiverConfig& receiver,
                             std::span<const AlertNotification> notifications) {
  const bool is_slack = receiver.kind == ReceiverKind::kSlack;
  if (!is_slack && receiver.kind != ReceiverKind::kTeams) return notifications.size();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < notifications.size(); ++i) {
    const AlertNotification& one = notifications[i];
    bytes +=
        is_slack ? slack_text(one, receiver.text).size() : teams_text(one, receiver.text).size();
    if (i > 0 && bytes > kChatBytesMax) return i;
  }
  return notifications.size();
}

Result<void> Delivery::send(const ReceiverConfig& receiver, std::span<const AlertNotification> told,
                            bool is_retry, Instant now, std::span<const Alert> ongoing) {
  std::vector<AlertNotification> notifications(told.begin(), told.end());
  const bool is_chat =
      receiver.kind == ReceiverKind::kSlack || receiver.kind == ReceiverKind::kTeams;
  for (AlertNotification& one : notifications) {
    if (!is_chat) one.alert.condition.summary += one.link;
  }
  const AlertNotification& first = notifications.front();
  switch (receiver.kind) {
    case ReceiverKind::kAlertmanager:
      return refresh(receiver, notifications, now);
    case ReceiverKind::kWebhook:
      return post(receiver, "", webhook_json(first, is_retry), first.id, is_retry);
    case ReceiverKind::kSlack:
      return post(receiver, "", slack_json(notifications, receiver.text), first.id, is_retry);
    case ReceiverKind::kTeams:
      return post(receiver, "", teams_json(notifications, receiver.text), first.id, is_retry);
    case ReceiverKind::kEmail:
      return send_mail(receiver, notifications, is_retry, now, ongoing);
    case ReceiverKind::kPagerDuty: {
      const auto routing_key = TRY(secret_line(receiver.secret_file));
      // The same for each notification of one occurrence, so that PagerDuty has one incident.
      const std::string dedup_key = to_hex(sha256(first.alert.id()));
      return post(receiver, "", pager_duty_json(first, routing_key, dedup_key), first.id, is_retry);
    }
  }
  return {};
}

Result<void> Delivery::send_mail(const ReceiverConfig& receiver,
                                 std::span<const AlertNotification> notifications, bool is_retry,
                                 Instant now, std::span<const Alert> ongoing) {
  const auto named = [&](const Error& error) {
    return std::unexpected(error.during(fmt::format("receiver '{}'", receiver.name)));
  };
  auto smtp = smtp_settings(mail_);
  if (!smtp) return named(smtp.error());
  smtp->timeout = kMailTimeout;
  // Of the ids of all that is in it: the same message again has the same id, another one has not.
  std::string ids;
  for (const AlertNotification& one : notifications) ids += one.id + "\n";
  const auto text = mail::write_message(
      {.from = mail_.from,
       .to = receiver.to,
       .subject = alert_mail_subject(notifications),
       .text = alert_mail_text(notifications, ongoing, is_retry),
       .attachments = {},
       .at = now,
       .id = fmt::format("alert.{}", to_hex(sha256(receiver.name + "\n" + ids)).substr(0, 40))});
  if (!text) return named(text.error());
  const auto sent = mail::send_mail(*smtp, mail_.from, receiver.to, *text);
  if (!sent) return named(sent.error());
  return {};
}

bool takes_reports(ReceiverKind kind) {
  return kind == ReceiverKind::kEmail || kind == ReceiverKind::kWebhook ||
         kind == ReceiverKind::kSlack;
}

Result<void> Delivery::send_report(const ReceiverConfig& receiver, const ReportMessage& report,
                                   bool is_retry, Instant now) {
  if (!takes_reports(receiver.kind)) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("receiver '{}' takes alerts only; reports go by mail, to webhooks and "
                            "to Slack",
                            receiver.name));
  }
  if (receiver.kind == ReceiverKind::kWebhook) {
    return post(receiver, "", report.json, report.id, is_retry);
  }
  if (receiver.kind == ReceiverKind::kSlack) {
    std::string table = report.text;
    if (table.size() > kChatBytesMax) {
      table.resize(table.rfind('\n', kChatBytesMax) + 1);
      table += "(the rest is on the page)\n";
    }
    const std::string text =
        fmt::format("{}\n```\n{}```", plain_for_slack(report.subject), plain_for_slack(table));
    return post(receiver, "", fmt::format("{{\"text\": {}}}", json_string(text)), report.id,
                is_retry);
  }
  const auto named = [&](const Error& error) {
    return std::unexpected(error.during(fmt::format("receiver '{}'", receiver.name)));
  };
  auto smtp = smtp_settings(mail_);
  if (!smtp) return named(smtp.error());
  smtp->timeout = kMailTimeout;
  const auto text = mail::write_message(
      {.from = mail_.from,
       .to = receiver.to,
       .subject = report.subject,
       .text = report.text,
       .attachments = {{report.file_name, "text/csv; charset=utf-8", report.csv}},
       .at = now,
       .id = fmt::format("report.{}",
                         to_hex(sha256(receiver.name + "\n" + report.id)).substr(0, 40))});
  if (!text) return named(text.error());
  if (const auto sent = mail::send_mail(*smtp, mail_.from, receiver.to, *text); !sent) {
    return named(sent.error());
  }
  return {};
}

Result<void> Delivery::refresh(const ReceiverConfig& receiver,
                               std::span<const AlertNotification> notifications, Instant now) {
  const auto valid =
      std::max(kValidMin, kEvaluationsValid * std::chrono::milliseconds(config_.every_ms));
  return post(receiver, "/api/v2/alerts", alertmanager_json(notifications, now, valid), "", false);
}

}  // namespace pennyweight
