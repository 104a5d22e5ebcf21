// Columns: where the columns of a cost report are, and which of them are stored under another name.
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
  // An Error lists the columns without which no charge can be read.
  static Result<Columns> of(const csv::Header& header);

  std::optional<std::size_t> at(Column column) const {
    return positions[static_cast<std::size_t>(column)];
  }

  struct NamedColumn {
    std::string name;
    std::size_t at;
  };
  std::array<std::optional<std::size_t>, kColumns> positions;
  std::vector<NamedColumn> tags;  // name: the key of the tag
  std::vector<NamedColumn> kept;  // no FOCUS column; name: where they are stored; sorted by it
};

bool has_needed_columns(std::span<const std::string> names);

}  // namespace pennyweight::oci
