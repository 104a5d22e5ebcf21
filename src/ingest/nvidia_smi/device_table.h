// The default table that nvidia-smi prints, line by line: its cards and its MIG devices.
//
//   |   0  NVIDIA H100 80GB HBM3          On  |   00000000:00:09.0 Off |                   On |
//   | N/A   52C    P0            432W /  700W |   11125MiB /  81559MiB |     N/A      Default |
//   …
//   | MIG devices: …
//   |  0    2   0   0  |           11091MiB / 40448MiB    | 60      0 |  3   0    3    0    3 |
//
// The columns' widths changed over the years; cells and words did not.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "core/billing_period.h"
#include "core/error.h"
#include "ingest/nvidia_smi/reading.h"

namespace pennyweight::nvidia_smi {

class DeviceTable {
 public:
  using Reading = std::variant<std::monostate, CardReading, MigReading>;

  explicit DeviceTable(const TimeZone& zone) : zone_(zone) {}

  // Takes every line of a document in order. A reading when the line completes one; an error for a
  // line of the table that does not hold what its place demands.
  Result<Reading> line(std::uint64_t number, std::string_view text);

 private:
  enum class Part { kOutside, kCards, kMigDevices, kOther };
  Result<Reading> card_line(std::uint64_t number, std::string_view text);

  const TimeZone& zone_;
  Part part_ = Part::kOutside;
  std::optional<Instant> at_;        // of the table
  std::optional<CardReading> card_;  // whose first line was read
};

}  // namespace pennyweight::nvidia_smi
