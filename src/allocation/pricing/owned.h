// Owned hardware: the daily cost of machines for which there is no bill.
//
// A file of assets states what each was bought for, its salvage value and its running costs. The
// cost of a day is the sum of these components, each exact:
//
//   depreciation  (purchase - salvage) in equal parts over the days of its life, largest remainder,
//                 ties to the earlier day: the days of a life add up to it with ==
//   capital       book value at the start of the day x percent / 100 / 365; after the life the
//   salvage
//                 value stays tied up until the machine is retired
//   power         kWh of the day x PUE x tariff; kWh as measured, else power_watts x 24 h
//   colocation    price of a kW and month x power_watts / 1000, split evenly over the days of the
//   month,
//                 largest remainder
//   operations, support    amounts of a month, split likewise
//
// Only capital, power and the product of colocation are rounded, half-even at 10^-18. Days are
// those of UTC, 24 hours each, as in the bills of clouds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "allocation/pricing/exchange.h"
#include "core/decimal.h"
#include "core/error.h"
#include "core/id.h"
#include "core/money.h"

namespace pennyweight {

struct OwnedAsset {
  ClusterId cluster{""};
  NodeId node{""};
  Money purchase = Money::zero(kUsd);
  Money salvage = Money::zero(kUsd);  // at the end of its life
  Date in_service;                    // its first day
  std::uint32_t life_months = 0;
  std::optional<Date> retired;  // the first day without cost
  Decimal capital_percent;      // per year
  Decimal power_watts;          // at the machine's plug, without the PUE's share
  Decimal pue;
  Decimal tariff_per_kwh;
  Decimal colocation_per_kw_month;
  Decimal operations_per_month;
  Decimal support_per_month;
  std::string place;  // "assets.csv:3"

  Currency currency() const { return purchase.currency(); }
  bool operator==(const OwnedAsset&) const = default;
};

// Reads assets. The columns are cluster,node,purchase,salvage,currency,in_service,life_months and
// optionally retired,cost_of_capital_percent,power_watts,pue,tariff_per_kwh,colo_per_kw_month,
// operations_per_month,support_per_month,note. An Error has the place. Besides malformed values it
// refuses a salvage value above the purchase price, a tariff without power and PUE, colocation by
// the kW without power, a PUE below 1, and two assets of one node in service on the same day.
Result<std::vector<OwnedAsset>> parse_owned_assets(std::string_view csv, std::string_view name);

// The measured energy of nodes by day, in kWh, without the PUE's share.
using EnergyByDay = std::map<std::tuple<ClusterId, NodeId, Date>, Decimal>;

// Reads energy. The columns are cluster,node,day,kwh, with at most one row for a node and day. An
// Error has the place.
Result<EnergyByDay> parse_energy(std::string_view csv, std::string_view name);

struct OwnedDay {
  Date day;
  Money depreciation;
  Money capital;
  Money power;
  Money colocation;
  Money operations;
  Money support;
  Decimal kwh;  // without the PUE's share
  bool measured = false;

  Money total() const { return depreciation + capital + power + colocation + operations + support; }
};

// The first day after the asset's life. For the 31st, in a shorter month, its last day.
Date end_of_life(const OwnedAsset& asset);

// How much of an asset is written off before `day`: from nothing to purchase - salvage.
Money depreciated_before(const OwnedAsset& asset, Date day);

// The costs of each day of [first, end) on which the asset is in service.
std::vector<OwnedDay> owned_days(const OwnedAsset& asset, Date first, Date end,
                                 const EnergyByDay& energy);

}  // namespace pennyweight
