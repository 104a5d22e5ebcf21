#include "core/gpu/device_id.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/ascii.h"
#include "core/gpu/device_plugin_resources.h"
#include "core/limits.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "core/units.h"
#include "core/whole_count.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kNumberMax = 1'000'000;

bool is_name_character(char c) {
  return ascii::is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= limits::kIdBytesMax &&
         std::ranges::all_of(text, is_name_character);
}

std::unexpected<Error> refuse_device_id(std::string_view what, std::string_view text,
                                        std::string_view reason) {
  return fail(ErrorCode::kBadValue,
              fmt::format("'{}' is not a {}: {}", printable_text(text, 120), what, reason));
}

std::optional<std::uint32_t> read_number(std::string_view text) {
  const auto number = parse_count(text, kNumberMax);
  return number ? std::optional(static_cast<std::uint32_t>(*number)) : std::nullopt;
}

// The number behind "gi" in "gi1"; nothing where that is not a number.
std::optional<std::uint32_t> read_numbered(std::string_view text, std::string_view word) {
  if (!text.starts_with(word)) return std::nullopt;
  return read_number(text.substr(word.size()));
}

// The text before `mark`; takes both off the front of `rest`.
std::string_view take_until(std::string_view& rest, char mark) {
  const std::size_t end = rest.find(mark);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

// "nvidia0", "nvidia0/vgpu3", "nvidia0/gi1", "nvidia0/gi1/vgpu2"
Result<DeviceId> parse_device_path(std::string_view text) {
  std::string_view rest = text;
  DeviceId id;
  id.device = take_until(rest, '/');
  if (text.ends_with('/')) return refuse_device_id("device id", text, "ends in '/'");
  if (rest.starts_with("gi")) {
    id.gpu_instance = read_numbered(take_until(rest, '/'), "gi");
    if (!id.gpu_instance) return refuse_device_id("device id", text, "'gi' and no number");
  }
  if (rest.empty()) return id;
  id.replica = read_numbered(rest, "vgpu");
  if (!id.replica) return refuse_device_id("device id", text, "expected nvidiaN[/giN][/vgpuN]");
  return id;
}

// "UUID" or "UUID[layout-position]" into `device`.
Result<void> read_hami_uuid(std::string_view text, std::string_view whole, HamiDevice& device) {
  const std::size_t bracket = text.find('[');
  device.uuid = text.substr(0, bracket);
  if (!is_name(device.uuid))
    return refuse_device_id("HAMi device", whole, "the first field is not a UUID");
  if (bracket == std::string_view::npos) return {};
  std::string_view slot = text.substr(bracket + 1);
  const std::size_t dash = slot.rfind('-');
  if (!slot.ends_with(']') || dash == std::string_view::npos) {
    return refuse_device_id("HAMi device", whole, "expected UUID[layout-position]");
  }
  slot.remove_suffix(1);
  const std::string_view layout = slot.substr(0, dash);
  const auto position = read_number(slot.substr(dash + 1));
  if (!is_name(layout) || !position) {
    return refuse_device_id("HAMi device", whole, "expected UUID[layout-position]");
  }
  device.mig = HamiDevice::MigSlot{.layout = std::string(layout), .position = *position};
  return {};
}

Result<HamiDevice> parse_hami_device(std::string_view text) {
  std::array<std::string_view, 4> fields;
  std::string_view rest = text;
  if (std::ranges::count(text, ',') != 3) {
    return refuse_device_id("HAMi device", text, "expected UUID,type,MiB,cores");
  }
  for (std::string_view& field : fields) field = take_until(rest, ',');

  HamiDevice device;
  TRY(read_hami_uuid(fields[0], text, device));
  device.type = fields[1];
  if (device.type.empty() || !is_plain_text(device.type)) {
    return refuse_device_id("HAMi device", text, "the second field is not a type");
  }
  const auto mib = parse_count(fields[2], kGpuMemoryMibMax);
  if (!mib) return refuse_device_id("HAMi device", text, mib.error().message);
  const auto cores = parse_count(fields[3], 100);
  if (!cores) return refuse_device_id("HAMi device", text, cores.error().message);
  device.memory_bytes = *mib * kBytesPerMib;
  if (*cores > 0) device.cores_percent = static_cast<std::uint32_t>(*cores);
  return device;
}

// The number before `mark`; takes both off the front of `rest`.
std::optional<std::uint32_t> take_number(std::string_view& rest, std::string_view mark) {
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  if (digits == 0 || !rest.substr(digits).starts_with(mark)) return std::nullopt;
  const auto number = read_number(rest.substr(0, digits));
  if (number) rest.remove_prefix(digits + mark.size());
  return number;
}

// "1g.5gb+me" of "1g5gb-me", "1c.3g.20gb" of "1c3g20gb"; nothing where it is not a profile.
std::optional<std::string> with_dots(std::string_view text) {
  std::string profile;
  std::string_view rest = text;
  if (const auto slices = take_number(rest, "c")) profile = fmt::format("{}c.", *slices);
  const auto slices = take_number(rest, "g");
  const auto memory = take_number(rest, "gb");
  if (!slices || !memory) return std::nullopt;
  profile += fmt::format("{}g.{}gb", *slices, *memory);
  if (rest.empty()) return profile;
  if (rest == "-me" || rest == "-gfx") return fmt::format("{}+{}", profile, rest.substr(1));
  if (rest == "-meall") return profile + "+me.all";
  return std::nullopt;
}

// The text after the last '-'; takes both off the end of `rest`.
std::optional<std::uint32_t> take_last_number(std::string_view& rest) {
  const std::size_t dash = rest.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto number = read_number(rest.substr(dash + 1));
  rest = rest.substr(0, dash);
  return number;
}

}  // namespace

Result<DraDevice> parse_dra_device(std::string_view name) {
  constexpr std::string_view kWhat = "device of NVIDIA's DRA driver";
  constexpr std::string_view kForms =
      "expected gpu-N, gpu-vfio-N or gpu-N-mig-<profile>-<profile id>-<placement>";
  constexpr std::string_view kMig = "-mig-";
  std::string_view rest = name;
  if (!rest.starts_with("gpu-")) return refuse_device_id(kWhat, name, kForms);
  rest.remove_prefix(std::string_view("gpu-").size());
  DraDevice device;
  device.is_vfio = rest.starts_with("vfio-");
  if (device.is_vfio) rest.remove_prefix(std::string_view("vfio-").size());
  const auto card = take_number(rest, "");
  if (!card) return refuse_device_id(kWhat, name, kForms);
  device.card = *card;
  if (rest.empty()) return device;

  if (device.is_vfio || !rest.starts_with(kMig)) return refuse_device_id(kWhat, name, kForms);
  rest.remove_prefix(kMig.size());
  device.placement = take_last_number(rest);
  const auto profile_id = take_last_number(rest);
  const auto profile = with_dots(rest);
  if (!device.placement || !profile_id || !profile) return refuse_device_id(kWhat, name, kForms);
  device.mig_profile = *profile;
  return device;
}

Result<DeviceId> parse_device_id(std::string_view text) {
  if (read_numbered(text.substr(0, text.find('/')), "nvidia")) return parse_device_path(text);
  DeviceId id;
  const std::size_t colons = text.find("::");
  id.device = text.substr(0, colons);
  if (!(id.device.starts_with("GPU-") || id.device.starts_with("MIG-")) || !is_name(id.device)) {
    return refuse_device_id("device id", text, "expected GPU-…, MIG-… or nvidiaN");
  }
  if (colons == std::string_view::npos) return id;
  id.replica = read_number(text.substr(colons + 2));
  if (!id.replica) return refuse_device_id("device id", text, "'::' and no number");
  return id;
}

Result<std::vector<std::vector<HamiDevice>>> parse_hami_devices(std::string_view text) {
  std::vector<std::vector<HamiDevice>> containers;
  std::string_view rest = text;
  while (!rest.empty()) {
    if (containers.size() >= limits::kGpusPerNodeMax) {
      return fail(ErrorCode::kLimit,
                  fmt::format("HAMi devices of more than {} containers", limits::kGpusPerNodeMax));
    }
    std::string_view of_container = take_until(rest, ';');
    std::vector<HamiDevice>& devices = containers.emplace_back();
    while (!of_container.empty()) {
      if (devices.size() >= limits::kGpusPerNodeMax) {
        return fail(ErrorCode::kLimit, fmt::format("more than {} HAMi devices of a container",
                                                   limits::kGpusPerNodeMax));
      }
      const std::string_view part = take_until(of_container, ':');
      // EncodeContainerDeviceType leaves ':' alone for a device of another type.
      if (part.empty()) continue;
      auto device = TRY(parse_hami_device(part));
      devices.push_back(std::move(device));
    }
  }
  return containers;
}

}  // namespace pennyweight
