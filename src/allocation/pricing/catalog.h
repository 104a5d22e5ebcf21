// Catalog: the list prices of instances and GPUs over time.
//
// The built-in prices are those of data/prices (AWS, GCP, Azure, OCI and smaller clouds, each row
// with its source and the date of the price); a file with the same columns can override them. A
// price is in force from its date until the next price of the same (provider, region, instance
// type, purchase option). Before the first date there is no price, and the Error says from when
// there is one. Catalogs never change after they are built, and many threads may read them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/pricing/exchange.h"
#include "core/date.h"
#include "core/decimal.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/instant.h"
#include "core/money.h"

namespace pennyweight {

enum class PurchaseOption { kOnDemand, kSpot, kCommitted1Year, kCommitted3Years };

// "on_demand", "spot", "committed_1y", "committed_3y"
std::string_view to_text(PurchaseOption option);
std::optional<PurchaseOption> parse_purchase_option(std::string_view text);

struct InstanceType {
  std::string provider;  // "aws", "gcp", "azure", "oci", … lower case
  std::string name;      // "p4d.24xlarge"
  std::string
      gpu_model;  // its name in core/gpu/gpu_model.h where it is known there, else as listed
  std::uint32_t gpu_count = 0;
  std::optional<std::uint64_t> cpu_milli;
  std::optional<std::uint64_t> memory_bytes;
  bool operator==(const InstanceType&) const = default;
};

struct Rate {
  std::string provider;
  std::string region;  // empty: the price holds for all regions
  std::string instance_type;
  PurchaseOption option = PurchaseOption::kOnDemand;
  Instant from;
  Decimal per_hour;  // of one instance
  Currency currency = kUsd;
  std::string source;  // a key of data/prices/README.md, or the place in a price file
  bool operator==(const Rate&) const = default;
};

struct RateQuery {
  std::string instance_type;
  std::string region;  // empty: the cheapest of any; among equally cheap ones the first by name
  PurchaseOption option = PurchaseOption::kOnDemand;
  Instant at;
};

// Market prices of CPU and memory, for the residual split of a node's price (OpenCost's defaults).
struct HostUnitRates {
  Decimal per_cpu_hour;
  Decimal per_gib_hour;
  Currency currency = kUsd;  // of both
  bool operator==(const HostUnitRates&) const = default;
};

// A host unit rate above this is refused as a mistake.
inline constexpr Decimal kHostUnitRateMax = Decimal::from_units(1000);
// So is a price of one instance above this.
inline constexpr Decimal kRatePerHourMax = Decimal::from_units(1'000'000);

class Catalog {
 public:
  static const Catalog& built_in();

  // This catalog with the rows of a CSV text replacing, or adding to, its own. The columns are
  //   provider,region,instance_type,option,from,per_hour,currency
  //   gpu_model,gpu_count,vcpu,memory_gib
  // of which those of the second line are optional; a row that states one of them states all. An
  // empty region stands for every region. From its first date on, the text's series of a (region,
  // instance type, option) replaces this catalog's; before that date this catalog's stays in force.
  // Rows with instance_type "(cpu)" and "(memory_gib)" set the host unit rates, which are in one
  // currency. Reading stops at the first Error, which has `name` and the line.
  Result<Catalog> overridden_by(std::string_view csv, std::string_view name) const;

  const InstanceType* find_instance_type(std::string_view name) const;
  // An Error says what is missing: the type, the region, the option, or a price at that time.
  Result<Rate> find_rate(const RateQuery& query) const;
  const HostUnitRates& host_unit_rates() const { return host_unit_rates_; }

  // This catalog with the exchange rates by which host_unit_rates_in() converts. They are no part
  // of version(): a further day's rate changes no price.
  Catalog with_exchange_rates(ExchangeRates rates, RateSearch search) const;
  // The host unit rates in a currency, converted at the rate of `date` and rounded half-even at
  // 10^-18. An Error names the currencies and the date where no rate is known.
  Result<HostUnitRates> host_unit_rates_in(Currency currency, Date date) const;

  const std::vector<InstanceType>& instance_types() const { return instance_types_; }
  const std::vector<Rate>& rates() const { return rates_; }  // by (type, region, option, from)
  // A fingerprint that changes exactly when any row changes.
  Hash128 version() const { return version_; }

 private:
  // Sorts the rows and computes their fingerprint.
  void seal();
  // The rates of a type, from the first to past the last.
  std::span<const Rate> rates_of(std::string_view instance_type) const;

  std::vector<InstanceType> instance_types_;  // by name
  std::vector<Rate> rates_;
  struct ConvertedHostRates;  // exchange rates, and what was asked of them
  HostUnitRates host_unit_rates_;
  std::shared_ptr<ConvertedHostRates> converted_;  // absent: no exchange rates
  Hash128 version_;
};

}  // namespace pennyweight
