// Catalog: what instances and GPUs cost at list, over time.
//
// Built in from data/prices (AWS, GCP, Azure, OCI and smaller clouds, each row with its source and
// the date at which the price was seen), and overridable from a file of the same columns. A price
// is in force from its date until the next of the same (provider, region, instance type, purchase
// option); before the first known date there is none, and asking is an error that says from when
// there is one. Catalogs are values: never changed after they are built, safe to read from many
// threads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
  std::string provider;   // "aws", "gcp", "azure", "oci", … lower case
  std::string name;       // "p4d.24xlarge"
  std::string gpu_model;  // as fleet/gpu_model.h names it where it is known there, else as listed
  std::uint32_t gpu_count = 0;
  std::optional<std::uint64_t> cpu_milli;
  std::optional<std::uint64_t> memory_bytes;
  bool operator==(const InstanceType&) const = default;
};

struct Rate {
  std::string provider;
  std::string region;  // empty: the list does not tell regions apart
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
  std::string region;  // empty: any, the cheapest; of equally cheap ones the first by name
  PurchaseOption option = PurchaseOption::kOnDemand;
  Instant at;
};

// Market prices of host parts, for the residual split of a node's price (OpenCost's defaults).
struct HostUnitRates {
  Decimal per_cpu_hour;
  Decimal per_gib_hour;
  bool operator==(const HostUnitRates&) const = default;
};

// A host unit rate above this is taken for a slip of the pen and refused.
inline constexpr Decimal kHostUnitRateMax = Decimal::from_units(1000);
// And a price of one instance above this.
inline constexpr Decimal kRatePerHourMax = Decimal::from_units(1'000'000);

class Catalog {
 public:
  static const Catalog& built_in();

  // A catalog in which the rows of a CSV text take the place of, or add to, this one's. Columns:
  //   provider,region,instance_type,option,from,per_hour,currency
  //   gpu_model,gpu_count,vcpu,memory_gib
  // the second line's optional; a row that states one of them states all. A region left empty is
  // every region. From its first date on, the text's series of a (region, instance type, option) is
  // in force and this one's no more; before it this one's stays. Rows with instance_type "(cpu)"
  // and "(memory_gib)" set the host unit rates. The first error ends it, and carries `name` and the
  // line.
  Result<Catalog> overridden_by(std::string_view csv, std::string_view name) const;

  const InstanceType* find_instance_type(std::string_view name) const;
  // An error says what is missing: no such type, no such region, no such option, or not before
  // when.
  Result<Rate> find_rate(const RateQuery& query) const;
  const HostUnitRates& host_unit_rates() const { return host_unit_rates_; }

  const std::vector<InstanceType>& instance_types() const { return instance_types_; }
  const std::vector<Rate>& rates() const { return rates_; }  // by (type, region, option, from)
  // Changes exactly when any row does.
  Hash128 version() const { return version_; }

 private:
  // Puts rows in order and fingerprints them.
  void seal();
  // Rates of a type, from the first to behind the last.
  std::span<const Rate> rates_of(std::string_view instance_type) const;

  std::vector<InstanceType> instance_types_;  // by name
  std::vector<Rate> rates_;
  HostUnitRates host_unit_rates_;
  Hash128 version_;
};

}  // namespace pennyweight
