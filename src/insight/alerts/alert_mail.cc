#include "insight/alerts/alert_mail.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace pennyweight {
namespace {

constexpr std::size_t kOngoingShownMax = 100;

// Critical ones first, otherwise as they are.
std::vector<AlertNotification> by_gravity(std::span<const AlertNotification> notifications,
                                          bool is_firing) {
  std::vector<AlertNotification> chosen;
  for (const AlertNotification& one : notifications) {
    if (one.is_firing == is_firing) chosen.push_back(one);
  }
  std::ranges::stable_sort(chosen, [](const auto& a, const auto& b) {
    return a.alert.condition.severity > b.alert.condition.severity;
  });
  return chosen;
}

std::string counted_alerts(std::size_t count) {
  return fmt::format("{} {}", count, count == 1 ? "alert" : "alerts");
}

std::string paragraph(const Alert& alert, std::string_view id) {
  std::string text = fmt::format("* ({}) {}\n  since {}", to_text(alert.condition.severity),
                                 alert.condition.summary, to_text(alert.since));
  if (alert.ended) text += fmt::format(", ended {}", to_text(*alert.ended));
  if (!alert.condition.owner.empty()) text += fmt::format("; owner: {}", alert.condition.owner);
  return text + fmt::format("\n  {}\n", id);
}

}  // namespace

std::string alert_mail_subject(std::span<const AlertNotification> notifications) {
  const auto began = by_gravity(notifications, true);
  const auto ended = by_gravity(notifications, false);
  std::string counts;
  if (!began.empty()) counts = counted_alerts(began.size());
  if (!ended.empty()) {
    counts = began.empty() ? counted_alerts(ended.size()) + " ended"
                           : fmt::format("{}, {} ended", counts, ended.size());
  }
  const AlertNotification& first = began.empty() ? ended.front() : began.front();
  return fmt::format("[pennyweight] {}: {}", counts, first.alert.condition.summary);
}

std::string alert_mail_text(std::span<const AlertNotification> notifications,
                            std::span<const Alert> ongoing, bool is_retry) {
  std::string text;
  if (is_retry) text += "This message may have been delivered before.\n\n";
  const auto add = [&](std::string_view title, bool is_firing) {
    const auto chosen = by_gravity(notifications, is_firing);
    if (chosen.empty()) return;
    text += fmt::format("{}:\n\n", title);
    for (const AlertNotification& one : chosen) text += paragraph(one.alert, one.id);
    text += "\n";
  };
  add("Firing", true);
  add("Ended", false);
  std::set<std::string> said;
  for (const AlertNotification& one : notifications) said.insert(one.alert.id());
  std::size_t shown = 0;
  for (const Alert& alert : ongoing) {
    if (said.contains(alert.id())) continue;
    if (shown == kOngoingShownMax) {
      text += "… and others; the command 'pennyweight alerts' lists all\n";
      break;
    }
    if (shown++ == 0) text += "Still going on:\n\n";
    text += paragraph(alert, alert.id());
  }
  return text;
}

}  // namespace pennyweight
