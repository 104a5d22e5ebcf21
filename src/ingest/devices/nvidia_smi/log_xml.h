// Reads nvidia-smi -q -x: the full log as XML (nvsmi_device_v10 to v13.dtd), of which only the
// elements that the table also shows are read. The log names no MIG profiles; its MIG instances
// become usages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/billing_period.h"
#include "core/error.h"
#include "ingest/devices/nvidia_smi/reading.h"

namespace pennyweight::nvidia_smi {

struct LogReading {
  std::vector<GpuReading> cards;  // in the order of the log, which gives their index
  std::vector<MigReading> mig;
  struct Refusal {
    std::uint64_t line = 0;
    std::string element;
    std::string reason;
  };
  std::vector<Refusal> refused;  // GPUs and instances that are left out
};

bool is_log(std::string_view document);

// An Error when it is not well-formed XML, or not this log. Entities of a DTD are never resolved.
Result<LogReading> read_log(std::string_view document, const TimeZone& zone);

}  // namespace pennyweight::nvidia_smi
