#include "ledger/holding.h"

#include <fmt/format.h>

#include <charconv>

#include "core/overloaded.h"
#include "ledger/eligible_time.h"
#include "ledger/task_count.h"

namespace pennyweight {
namespace {

// Percent-encodes the characters that separate names in a placement.
std::string encoded(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == ',' || c == '=' || c == ' ' || c == '%') {
      text += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      text.push_back(c);
    }
  }
  return text;
}

std::optional<std::string> decoded(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      name.push_back(text[i]);
      continue;
    }
    unsigned code = 0;
    if (i + 2 >= text.size()) return std::nullopt;
    const char* end = text.data() + i + 3;
    const auto [stop, error] = std::from_chars(text.data() + i + 1, end, code, 16);
    if (error != std::errc{} || stop != end) return std::nullopt;
    name.push_back(static_cast<char>(code));
    i += 2;
  }
  return name;
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

// Calls `take` with each item between separators; an empty text has no items.
template <class Take>
bool each_part(std::string_view text, char separator, Take take) {
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    if (!take(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
    if (text.empty()) return false;  // a separator with nothing behind it
  }
  return true;
}

std::string joined(const auto& ids) {
  std::string text;
  for (const auto& id : ids) text += (text.empty() ? "" : ",") + encoded(id.text());
  return text;
}

// Reads a list of encoded names as typed ids.
template <class TypedId>
bool read_ids(std::string_view text, std::vector<TypedId>& ids) {
  return each_part(text, ',', [&](std::string_view part) {
    auto name = decoded(part);
    if (!name || name->empty()) return false;
    ids.emplace_back(std::move(*name));
    return true;
  });
}

std::string optional_text(const std::optional<std::uint64_t>& value) {
  return value ? std::to_string(*value) : "unknown";
}

std::string virtual_gpu_text(const VirtualGpu& part) {
  std::string text = "vgpu";
  if (part.cores_percent) text += fmt::format(" cores={}", *part.cores_percent);
  if (part.memory_bytes) text += fmt::format(" memory={}", *part.memory_bytes);
  if (part.memory_percent) text += fmt::format(" memory_percent={}", *part.memory_percent);
  return text;
}

// Reads the text after "vgpu": " cores=30 memory=4294967296", in this order, each at most once.
std::optional<Device> parse_virtual_gpu(std::string_view text) {
  VirtualGpu part;
  const auto take = [&]<class Number>(std::string_view key, std::optional<Number>& into) {
    if (!text.starts_with(key)) return true;
    text.remove_prefix(key.size());
    const std::size_t end = std::min(text.find(' '), text.size());
    into = number<Number>(text.substr(0, end));
    text.remove_prefix(end);
    return into.has_value();
  };
  if (!take(" cores=", part.cores_percent) || !take(" memory=", part.memory_bytes) ||
      !take(" memory_percent=", part.memory_percent) || !text.empty()) {
    return std::nullopt;
  }
  return part;
}

bool is_content(std::string_view label) {
  return label != kSubmitTimeLabel && label != kEligibleTimeLabel && label != kExitCodeLabel &&
         label != kTasksLabel;
}

std::string labels_text(const Labels& labels) {
  std::string text;
  for (const auto& [key, value] : labels.entries()) {
    if (is_content(key)) text += fmt::format("{}={};", key, value);
  }
  return text;
}

}  // namespace

std::uint64_t device_count(const Holding& holding) {
  return std::visit(Overloaded{[](const OnGpus& on) -> std::uint64_t { return on.gpus.size(); },
                               [](const OnNodes& on) {
                                 std::uint64_t sum = 0;
                                 for (const auto& part : on.parts) sum += part.devices;
                                 return sum;
                               },
                               [](const InPool& in) -> std::uint64_t { return in.devices; }},
                    holding.placement);
}

Hash128 natural_key(const Holding& holding) {
  Fingerprint print;
  print.add("holding")
      .add(holding.cluster.text())
      .add(holding.workload.text())
      .add(holding.attempt);
  if (!holding.ended) print.add("running").add(unix_ms(holding.held.end()));
  return print.hash();
}

Hash128 content_hash(const Holding& holding) {
  Fingerprint print;
  print.add(holding.cluster.text())
      .add(holding.workload.text())
      .add(holding.attempt)
      .add(unix_ms(holding.held.begin()))
      .add(unix_ms(holding.held.end()))
      .add(std::int64_t{holding.ended})
      .add(static_cast<std::int64_t>(holding.suspended_ms))
      .add(to_text(holding.device))
      .add(holding.gpu_model)
      .add(to_text(holding.placement));
  print.add(holding.cpu_milli);
  print.add(holding.memory_bytes);
  print.add(holding.claim).add(holding.gpu_group).add(std::int64_t{holding.is_reservation});
  for (const auto& [key, value] : holding.labels.entries()) {
    if (is_content(key)) print.add(key).add(value);
  }
  return print.hash();
}

std::string difference(const Holding& there, const Holding& here) {
  std::string text;
  const auto compare = [&](std::string_view what, const std::string& old_value,
                           const std::string& new_value) {
    if (old_value == new_value) return;
    if (!text.empty()) text += "; ";
    text += fmt::format("{} {} there, {} here", what, old_value, new_value);
  };
  compare("begin", to_text(there.held.begin()), to_text(here.held.begin()));
  compare("end", to_text(there.held.end()), to_text(here.held.end()));
  compare("suspended ms", std::to_string(there.suspended_ms), std::to_string(here.suspended_ms));
  compare("device", to_text(there.device), to_text(here.device));
  compare("GPU model", there.gpu_model, here.gpu_model);
  compare("placement", to_text(there.placement), to_text(here.placement));
  compare("CPU milli", optional_text(there.cpu_milli), optional_text(here.cpu_milli));
  compare("memory bytes", optional_text(there.memory_bytes), optional_text(here.memory_bytes));
  compare("claim", there.claim, here.claim);
  compare("GPU group", there.gpu_group, here.gpu_group);
  compare("reservation", there.is_reservation ? "yes" : "no", here.is_reservation ? "yes" : "no");
  compare("labels", labels_text(there.labels), labels_text(here.labels));
  return text;
}

std::string to_text(const Device& device) {
  return std::visit(Overloaded{[](WholeGpu) { return std::string("gpu"); },
                               [](const CardFraction& part) {
                                 return fmt::format("fraction {}/{}", part.compute.units(),
                                                    part.memory.units());
                               },
                               [](const MigSlice& slice) { return "mig " + slice.profile; },
                               [](Shard) { return std::string("shard"); },
                               [](MpsUnit) { return std::string("mps"); },
                               [](Replica) { return std::string("replica"); },
                               [](const VirtualGpu& part) { return virtual_gpu_text(part); }},
                    device);
}

std::string to_text(const Placement& placement) {
  return std::visit(Overloaded{[](const OnGpus& on) { return "gpus " + joined(on.gpus); },
                               [](const OnNodes& on) {
                                 std::string text;
                                 for (const auto& part : on.parts) {
                                   text += fmt::format("{}{}={}", text.empty() ? "" : ",",
                                                       encoded(part.node.text()), part.devices);
                                 }
                                 return "nodes " + text;
                               },
                               [](const InPool& in) {
                                 return fmt::format("pool {}{}{}", in.devices,
                                                    in.pools.empty() ? "" : " ", joined(in.pools));
                               }},
                    placement);
}

std::optional<Device> parse_device(std::string_view text) {
  if (text == "gpu") return WholeGpu{};
  if (text == "shard") return Shard{};
  if (text == "mps") return MpsUnit{};
  if (text == "replica") return Replica{};
  if (text == "vgpu" || text.starts_with("vgpu ")) return parse_virtual_gpu(text.substr(4));
  if (text.starts_with("mig ") && text.size() > 4) return MigSlice{std::string(text.substr(4))};
  if (!text.starts_with("fraction ")) return std::nullopt;
  text.remove_prefix(9);
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto compute = number<std::uint64_t>(text.substr(0, slash));
  const auto memory = number<std::uint64_t>(text.substr(slash + 1));
  if (!compute || !memory) return std::nullopt;
  return CardFraction{CardShare::from_units(*compute), CardShare::from_units(*memory)};
}

std::optional<Placement> parse_placement(std::string_view text) {
  if (text.starts_with("gpus ")) {
    OnGpus on;
    if (!read_ids(text.substr(5), on.gpus)) return std::nullopt;
    return on;
  }
  if (text.starts_with("nodes ")) {
    OnNodes on;
    const bool ok = each_part(text.substr(6), ',', [&](std::string_view part) {
      const std::size_t equals = part.find('=');
      if (equals == std::string_view::npos) return false;
      auto name = decoded(part.substr(0, equals));
      const auto devices = number<std::uint32_t>(part.substr(equals + 1));
      if (!name || !devices) return false;
      on.parts.push_back({.node = NodeId(std::move(*name)), .devices = *devices});
      return true;
    });
    if (!ok) return std::nullopt;
    return on;
  }
  if (text.starts_with("pool ")) {
    text.remove_prefix(5);
    const std::size_t space = text.find(' ');
    const auto devices = number<std::uint32_t>(text.substr(0, space));
    if (!devices) return std::nullopt;
    InPool in{.pools = {}, .devices = *devices};
    if (space != std::string_view::npos && !read_ids(text.substr(space + 1), in.pools)) {
      return std::nullopt;
    }
    return in;
  }
  return std::nullopt;
}

}  // namespace pennyweight
