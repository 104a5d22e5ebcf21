#include "insight/queries/price_incident.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <tuple>

#include "reporting/number_format.h"

namespace pennyweight {
namespace {

constexpr std::chrono::days kLaterMax{7};

bool is_higher(const FoundAnomaly& one) { return !one.incident.impact().is_negative(); }

Int128 size_of_impact(const FoundAnomaly& one) {
  const Int128 ticks = one.incident.impact().ticks();
  return ticks < 0 ? -ticks : ticks;
}

// Whether the anomaly is of costs without GPU time, such as what nobody holds of the processors of
// nodes: no price can be read from them.
bool is_without_time(const FoundAnomaly& one) {
  return one.split.volume.is_zero() && one.split.price.is_zero() && one.split.mix.is_zero() &&
         !one.split.rest.is_zero();
}

// Whether an incident explains an anomaly that has no price by itself: most of it is of the same
// machines, in the same direction, from the same week on.
bool explains(const PriceIncident& incident, const FoundAnomaly& one) {
  const auto later = one.first - incident.first;
  return one.price_of.empty() && is_without_time(one) && !one.causes.empty() &&
         one.causes.front().key == incident.price_of && one.causes.front().permille >= 500 &&
         is_higher(one) == incident.is_higher && later >= std::chrono::days(0) &&
         later <= kLaterMax;
}

void add_part(PriceIncident& incident, std::span<const FoundAnomaly> anomalies, std::size_t i) {
  const FoundAnomaly& one = anomalies[i];
  incident.last = std::max(incident.last, one.last);
  incident.is_open = incident.is_open || one.is_open;
  incident.impact += one.incident.impact();
  incident.impact_per_day += one.incident.impact_per_day();
  incident.parts.push_back(i);
}

// The hour in which its first parts began; empty where they don't tell one and the same.
std::string first_hour(const PriceIncident& incident, std::span<const FoundAnomaly> anomalies) {
  std::string hour;
  for (const std::size_t i : incident.parts) {
    const FoundAnomaly& one = anomalies[i];
    if (one.first != incident.first) continue;
    if (one.hour.empty() || (!hour.empty() && hour != one.hour)) return "";
    hour = one.hour;
  }
  return hour;
}

}  // namespace

std::vector<PriceIncident> find_price_incidents(std::span<const FoundAnomaly> anomalies) {
  std::vector<std::size_t> order(anomalies.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return anomalies[i].price_of.empty(); });
  const auto cause_of = [&](std::size_t i) {
    return std::tuple(std::string_view(anomalies[i].price_of), is_higher(anomalies[i]),
                      anomalies[i].first);
  };
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::tuple(cause_of(i), i); });
  std::vector<PriceIncident> incidents;
  for (const std::size_t i : order) {
    const FoundAnomaly& one = anomalies[i];
    const bool is_next = incidents.empty() || incidents.back().price_of != one.price_of ||
                         incidents.back().is_higher != is_higher(one) ||
                         one.first - incidents.back().first > kLaterMax;
    if (is_next) {
      const Money zero = Money::zero(one.incident.impact().currency());
      incidents.push_back({.price_of = one.price_of,
                           .is_higher = is_higher(one),
                           .first = one.first,
                           .last = one.last,
                           .impact = zero,
                           .impact_per_day = zero});
    }
    add_part(incidents.back(), anomalies, i);
  }
  for (std::size_t i = 0; i < anomalies.size(); ++i) {
    const auto at = std::ranges::find_if(
        incidents, [&](const PriceIncident& each) { return explains(each, anomalies[i]); });
    if (at != incidents.end()) add_part(*at, anomalies, i);
  }
  for (PriceIncident& incident : incidents) {
    std::ranges::sort(incident.parts, [&](std::size_t a, std::size_t b) {
      return std::tuple(-size_of_impact(anomalies[a]), std::string_view(anomalies[a].key), a) <
             std::tuple(-size_of_impact(anomalies[b]), std::string_view(anomalies[b].key), b);
    });
  }
  std::ranges::stable_sort(incidents, {}, &PriceIncident::first);
  return incidents;
}

std::string describe_price_incident(const PriceIncident& incident,
                                    std::span<const FoundAnomaly> anomalies,
                                    const std::string& dimension) {
  std::vector<std::string> parts;
  for (const std::size_t i : incident.parts) {
    parts.push_back(
        fmt::format("{} {}", anomalies[i].key, signed_money_text(anomalies[i].incident.impact())));
  }
  const std::string hour = first_hour(incident, anomalies);
  const std::string first = to_text(incident.first) + (hour.empty() ? "" : " " + hour);
  const std::string days = incident.is_open || incident.first == incident.last
                               ? fmt::format("{} {}", incident.is_open ? "since" : "on", first)
                               : fmt::format("from {} to {}", first, to_text(incident.last));
  return fmt::format("Price of {}: {} {}, by {}: {}", incident.price_of,
                     signed_money_text(incident.impact), days, dimension, fmt::join(parts, ", "));
}

std::string signed_money_text(Money amount) {
  return fmt::format("{}{} {}", amount.is_negative() ? "" : "+",
                     format_rounded(amount.amount(), 2, Thousands::kSeparated),
                     amount.currency() == kGpuHourUnit ? "GPU-hours" : amount.currency().text());
}

}  // namespace pennyweight
