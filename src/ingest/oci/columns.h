// Where the columns of a cost report stand, and which of them are kept under another name.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ingest/csv/header.h"

namespace pennyweight::oci {

enum class Column {
  kTenantId,
  kUsageStart,
  kUsageEnd,
  kService,
  kRegion,
  kAvailabilityDomain,
  kResourceId,
  kBilledQuantity,
  kSubscriptionId,
  kProductSku,
  kDescription,
  kUnitPrice,
  kMyCost,
  kCurrency,
  kBillingUnit,
  kSkuUnit,
  kOverageFlag,
  kIsCorrection,
};
inline constexpr std::size_t kColumns = static_cast<std::size_t>(Column::kIsCorrection) + 1;

struct Columns {
  // An Error that lists the columns without which no line can be taken.
  static Result<Columns> of(const csv::Header& header);

  std::optional<std::size_t> at(Column column) const {
    return places[static_cast<std::size_t>(column)];
  }

  struct Named {
    std::string name;
    std::size_t at;
  };
  std::array<std::optional<std::size_t>, kColumns> places;
  std::vector<Named> tags;  // by the tag's key
  std::vector<Named> kept;  // of no FOCUS column, by the name under which they are kept; sorted
};

bool has_needed_columns(std::span<const std::string> names);

}  // namespace pennyweight::oci
