// DeviceTable: reads the default table of nvidia-smi line by line: its GPUs and its MIG devices.
//
//   |   0  NVIDIA H100 80GB HBM3          On  |   00000000:00:09.0 Off |                   On |
//   | N/A   52C    P0            432W /  700W |   11125MiB /  81559MiB |     N/A      Default |
//   …
//   | MIG devices: …
//   |  0    2   0   0  |           11091MiB / 40448MiB    | 60      0 |  3   0    3    0    3 |
//
// The widths of the columns changed over the years; cells and words did not.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "core/billing_period.h"
#include "core/error.h"
#include "ingest/devices/nvidia_smi/reading.h"

namespace pennyweight::nvidia_smi {

class DeviceTable {
 public:
  using Reading = std::variant<std::monostate, GpuReading, MigReading>;

  explicit DeviceTable(const TimeZone& zone) : zone_(zone) {}

  // Takes every line of a document in order. Returns a reading when the line completes one; an
  // Error for a line of the table that does not have what its position requires.
  Result<Reading> line(std::uint64_t number, std::string_view text);

 private:
  enum class Section { kOutside, kGpus, kMigDevices, kOther };
  Result<Reading> gpu_line(std::uint64_t number, std::string_view text);

  const TimeZone& zone_;
  Section section_ = Section::kOutside;
  std::optional<Instant> at_;      // of the table
  std::optional<GpuReading> gpu_;  // of which the first line was read
};

}  // namespace pennyweight::nvidia_smi
