// Classifies a charge by its own columns, without looking for its node.
#pragma once

#include <algorithm>
#include <string_view>

#include "ledger/charge.h"

namespace pennyweight {

// Whether a unit is an amount of data: "GB", "Gigabyte", "10 GiB". "GiB-Hours" is not: it is memory
// over time.
inline bool is_amount_of_data(std::string_view unit) {
  const std::size_t begin = unit.find_first_not_of("0123456789., ");
  if (begin == std::string_view::npos) return false;
  constexpr std::string_view kUnits[] = {
      "B",        "KB",        "MB",        "GB",       "TB",        "PB",       "KiB",
      "MiB",      "GiB",       "TiB",       "PiB",      "byte",      "bytes",    "Byte",
      "Bytes",    "gigabyte",  "gigabytes", "Gigabyte", "Gigabytes", "gibibyte", "gibibytes",
      "Gibibyte", "Gibibytes", "Terabytes", "Megabytes"};
  return std::ranges::find(kUnits, unit.substr(begin)) != std::end(kUnits);
}

// A fee whose resource is a node, such as data transfer, is not a price of its devices. AWS bills
// traffic under the machine's own service, and so under Compute.
inline bool is_for_devices(const Charge& charge) {
  if (is_amount_of_data(charge.pricing_unit) || is_amount_of_data(charge.consumed_unit)) {
    return false;
  }
  if (charge.charge_category == ChargeCategory::kPurchase ||
      charge.charge_category == ChargeCategory::kTax) {
    return false;
  }
  return charge.service_category.empty() || charge.service_category == "Compute" ||
         charge.service_category == "AI and Machine Learning";
}

// Whether it is the unused part of a commitment or a capacity reservation.
inline bool is_unused(const Charge& charge) {
  return charge.commitment_discount_status == UsedOrUnused::kUnused ||
         charge.capacity_reservation_status == UsedOrUnused::kUnused;
}

}  // namespace pennyweight
