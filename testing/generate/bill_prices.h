// BillPrices: the unit prices of a node, from the catalog and the options of the bill.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "allocation/pricing/catalog.h"
#include "core/decimal.h"
#include "core/error.h"
#include "testing/generate/generate_bill.h"

namespace pennyweight {

// How a node is paid for.
enum class NodeTerm { kOnDemand, kSpot, kReserved };

// Unit prices have at most 14 digits and quantities at most 4, so that their products are exact.
inline constexpr int kUnitPriceDigits = 14;
inline constexpr int kQuantityDigits = 4;

struct HourlyPrices {
  Decimal list;        // on demand, without discounts
  Decimal contracted;  // with the negotiated discount; for spot, the price of the day
  Decimal effective;   // what an hour costs in the end: for reserved nodes, the commitment's rate
  std::string region;
  std::string source;  // where the prices are from
};

class BillPrices {
 public:
  // Both must outlive this.
  BillPrices(const Catalog& catalog, const BillOptions& options)
      : catalog_(catalog), options_(options) {}

  // Prices in force at `at`, or at options.prices_as_of. The reference is valid for the lifetime of
  // this object.
  Result<const HourlyPrices*> find(const std::string& instance_type, const std::string& region,
                                   NodeTerm term, Instant at);

 private:
  Result<HourlyPrices> read(const std::string& instance_type, const std::string& region,
                            NodeTerm term, Instant at) const;

  const Catalog& catalog_;
  const BillOptions& options_;
  std::map<std::tuple<std::string, std::string, NodeTerm, Instant>, HourlyPrices> seen_;
};

}  // namespace pennyweight
