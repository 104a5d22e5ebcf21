#include "insight/alerts/pager_duty.h"

#include <fmt/format.h>

#include "core/json_text.h"

namespace pennyweight {
namespace {

constexpr std::size_t kSummaryBytesMax = 1000;  // PagerDuty takes 1,024 characters

// Cut between code points.
std::string_view cut_summary(std::string_view text) {
  if (text.size() <= kSummaryBytesMax) return text;
  std::size_t bytes = kSummaryBytesMax;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  return text.substr(0, bytes);
}

}  // namespace

std::string pager_duty_json(const AlertNotification& notification, std::string_view routing_key,
                            std::string_view dedup_key) {
  const AlertCondition& condition = notification.alert.condition;
  std::string text =
      fmt::format("{{\"routing_key\": {}, \"event_action\": \"{}\", \"dedup_key\": {}",
                  json_string(routing_key), notification.is_firing ? "trigger" : "resolve",
                  json_string(dedup_key));
  // https://developer.pagerduty.com/docs/events-api-v2/trigger-events#parameters
  text += fmt::format(
      ", \"client\": \"pennyweight\", \"payload\": {{\"summary\": {}, \"source\": {}, "
      "\"severity\": \"{}\", \"timestamp\": {}, \"component\": {}, \"class\": {}, "
      "\"custom_details\": {{\"id\": {}, \"scope\": {}, \"owner\": {}}}}}}}",
      json_string(cut_summary(condition.summary)),
      json_string(condition.subject.empty() ? condition.scope : condition.subject),
      to_text(condition.severity), json_string(to_text(notification.alert.since)),
      json_string(condition.subject), json_string(condition.rule), json_string(notification.id),
      json_string(condition.scope), json_string(condition.owner));
  return text;
}

}  // namespace pennyweight
