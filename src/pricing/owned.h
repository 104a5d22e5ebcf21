// Owned hardware: what a machine that nobody bills costs on each day.
//
// A file of assets says what each was bought for, what it will be worth at the end, and what it
// takes to run; a day's cost is then a sum of components, each exact:
//
//   depreciation  (purchase - salvage) in equal parts over the days of its life, largest remainder,
//                 ties to the earlier day: the days of a life add up to it with ==
//   capital       book value at the day's begin x percent / 100 / 365; after the life the salvage
//                 value stays tied up, until the machine is retired
//   power         kWh of the day x PUE x tariff; kWh as measured, else power_watts x 24 h
//   colocation    price of a kW and month x power_watts / 1000, an even part of the month for each
//                 of its days, largest remainder
//   operations, support    amounts of a month, likewise
//
// Capital, power and the product of colocation are rounded half-even at 10^-18, and nothing else.
// Days are those of UTC, 24 hours each, as in the bills of clouds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/decimal.h"
#include "core/error.h"
#include "core/id.h"
#include "core/money.h"
#include "pricing/exchange.h"

namespace pennyweight {

struct OwnedAsset {
  ClusterId cluster{""};
  NodeId node{""};
  Money purchase = Money::zero(kUsd);
  Money salvage = Money::zero(kUsd);  // at the end of its life
  Date in_service;                    // its first day
  std::uint32_t life_months = 0;
  std::optional<Date> retired;  // the first day on which it costs nothing more
  Decimal capital_percent;      // a year
  Decimal power_watts;          // at the plug of the machine, without the PUE's share
  Decimal pue;
  Decimal tariff_per_kwh;
  Decimal colocation_per_kw_month;
  Decimal operations_per_month;
  Decimal support_per_month;
  std::string place;  // "assets.csv:3"

  Currency currency() const { return purchase.currency(); }
  bool operator==(const OwnedAsset&) const = default;
};

// Columns cluster,node,purchase,salvage,currency,in_service,life_months and, where wanted, retired,
// cost_of_capital_percent,power_watts,pue,tariff_per_kwh,colo_per_kw_month,operations_per_month,
// support_per_month,note. An error carries the place. Refused are, besides malformed values: a
// salvage above the purchase, a tariff without power and PUE, colocation by the kW without power, a
// PUE below 1, and two assets of one node that are in service on the same day.
Result<std::vector<OwnedAsset>> parse_owned_assets(std::string_view csv, std::string_view name);

// Measured energy of nodes by the day, in kWh, without the PUE's share.
using EnergyByDay = std::map<std::tuple<ClusterId, NodeId, Date>, Decimal>;

// Columns cluster,node,day,kwh. An error carries the place; a day of a node stands there once.
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

// The first day after the last of its life. The 31st of a month without one is its last day.
Date end_of_life(const OwnedAsset& asset);

// What an asset has been written off by before `day`: from nothing to purchase - salvage.
Money depreciated_before(const OwnedAsset& asset, Date day);

// Each day of [first, end) on which the asset is in service.
std::vector<OwnedDay> owned_days(const OwnedAsset& asset, Date first, Date end,
                                 const EnergyByDay& energy);

}  // namespace pennyweight
