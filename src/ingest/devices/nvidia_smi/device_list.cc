#include "ingest/devices/nvidia_smi/device_list.h"

#include "core/ascii.h"
#include "core/limits.h"
#include "core/whole_count.h"

namespace pennyweight::nvidia_smi {
namespace {

struct Named {
  std::string_view before;
  std::string_view uuid;
};

// Splits "before (UUID: uuid)".
std::optional<Named> split_uuid(std::string_view line) {
  constexpr std::string_view kOpening = "(UUID: ";
  const std::size_t opening = line.rfind(kOpening);
  line = line.substr(0, line.find_last_not_of(" \t") + 1);
  if (opening == std::string_view::npos || !line.ends_with(')')) return std::nullopt;
  const std::size_t begin = opening + kOpening.size();
  const std::string_view uuid = line.substr(begin, line.size() - 1 - begin);
  if (uuid.empty() || uuid.size() > limits::kIdBytesMax) return std::nullopt;
  return Named{ascii::trim(line.substr(0, opening)), uuid};
}

std::optional<std::uint32_t> parse_number(std::string_view text) {
  const auto number = parse_count(ascii::trim(text), limits::kGpusPerNodeMax - 1);
  if (!number) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

}  // namespace

std::optional<ListedGpu> parse_listed_gpu(std::string_view line) {
  if (!line.starts_with("GPU ")) return std::nullopt;
  const auto named = split_uuid(line);
  if (!named) return std::nullopt;
  const std::size_t colon = named->before.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto index = parse_number(named->before.substr(4, colon - 4));
  const std::string_view model = ascii::trim(named->before.substr(colon + 1));
  if (!index || model.empty() || model.size() > limits::kIdBytesMax) return std::nullopt;
  return ListedGpu{.line = 0,
                   .index = *index,
                   .model = std::string(model),
                   .uuid = std::string(named->uuid),
                   .mig_devices = {}};
}

std::optional<ListedGpu::MigDevice> parse_listed_mig_device(std::string_view line) {
  line = ascii::trim(line);
  if (!line.starts_with("MIG ")) return std::nullopt;
  const auto named = split_uuid(line);
  if (!named || !named->before.ends_with(':')) return std::nullopt;
  const std::string_view before = named->before.substr(4, named->before.size() - 5);
  constexpr std::string_view kDevice = "Device";
  const std::size_t device = before.find(kDevice);
  if (device == std::string_view::npos) return std::nullopt;
  const auto number = parse_number(before.substr(device + kDevice.size()));
  const std::string_view profile = ascii::trim(before.substr(0, device));
  if (!number || profile.empty() || profile.size() > limits::kIdBytesMax) return std::nullopt;
  return ListedGpu::MigDevice{*number, std::string(profile), std::string(named->uuid)};
}

}  // namespace pennyweight::nvidia_smi
