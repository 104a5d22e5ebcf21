// PriceIncident: what one change of a price did to several values, such as teams. It is one thing
// that happened, and not one for each of them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/date.h"
#include "core/money.h"
#include "insight/queries/budget_query.h"

namespace pennyweight {

struct PriceIncident {
  std::string price_of;  // "p5.48xlarge"
  bool is_higher = true;
  Date first;  // of the earliest of its parts
  Date last;
  bool is_open = false;
  Money impact;                         // the sum of those of its parts
  Money impact_per_day;                 // the sum of their means
  std::vector<std::size_t> parts = {};  // of the anomalies, those that it hit hardest first
};

// The anomalies that the price of one thing explains, in one direction, and that begin within a
// week of the first of them: what a small team costs varies more, so that a change shows later.
// Those without GPU time that are mostly of that thing come with them, such as "(unallocated)". Of
// one anomaly too: what is left of an incident may be one. By the day on which they begin.
std::vector<PriceIncident> find_price_incidents(std::span<const FoundAnomaly> anomalies);

// "Price of p5.48xlarge: +1,500.00 USD since 2026-03-10, by team: nlp +1,000.00 USD, cv +500.00
// USD".
std::string describe_price_incident(const PriceIncident& incident,
                                    std::span<const FoundAnomaly> anomalies,
                                    const std::string& dimension);

// "+1,500.00 USD", "-3.50 GPU-hours"
std::string signed_money_text(Money amount);

}  // namespace pennyweight
