#include "ingest/inventory/holding_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "core/decimal.h"
#include "core/gpu/gpu_model.h"
#include "core/limits.h"
#include "core/whole_count.h"
#include "ingest/inventory/lists.h"

namespace pennyweight::inventory {
namespace {

constexpr std::string_view kPlaces[] = {"gpu", "mig", "node", "pool"};

// Which of the four places the row names; empty, with a refusal, if it is not exactly one.
std::string_view place_of(csv::Cells& cells) {
  std::string_view named;
  for (const std::string_view place : kPlaces) {
    if (!cells.has(place)) continue;
    if (!named.empty()) {
      cells.refuse(place, fmt::format("both '{}' and '{}' are stated, but a holding has one; keep "
                                      "the more precise one, and empty the other",
                                      named, place));
      return {};
    }
    named = place;
  }
  if (named.empty()) {
    cells.refuse("",
                 "no place is named; fill in gpu, mig, node with devices, or pool with devices "
                 "(pool * for anywhere in the cluster)");
  }
  return named;
}

// The names in a cell, each once.
std::vector<std::string> names_of(csv::Cells& cells, std::string_view column) {
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (const std::string_view part : split_list(cells.text(column))) {
    if (part.empty() || part.size() > limits::kIdBytesMax || part == "NULL") {
      cells.refuse(column, fmt::format("'{}' is not a name; write a;b;c", part.substr(0, 80)));
      return {};
    }
    if (!seen.insert(part).second) {
      cells.refuse(column, fmt::format("'{}' appears twice", part.substr(0, 80)));
      return {};
    }
    names.emplace_back(part);
  }
  return names;
}

std::optional<std::uint64_t> devices_of(csv::Cells& cells) {
  return cells.optional_count("devices", limits::kGpusPerHoldingMax);
}

OnGpus on_gpus(csv::Cells& cells, std::string_view column) {
  OnGpus place;
  for (std::string& name : names_of(cells, column)) place.gpus.emplace_back(std::move(name));
  const auto devices = devices_of(cells);
  if (devices && *devices != place.gpus.size()) {
    cells.refuse("devices", fmt::format("{} devices, and {} are named in '{}'; leave it empty, or "
                                        "correct one of the two",
                                        *devices, place.gpus.size(), column));
  }
  return place;
}

OnNodes on_nodes(csv::Cells& cells) {
  OnNodes place;
  const auto devices = devices_of(cells);
  const std::vector<std::string> names = names_of(cells, "node");
  if (names.size() == 1 && names[0].find('=') == std::string::npos) {
    if (!devices) cells.refuse("devices", "how many devices of the node are held is not said");
    place.parts.push_back({NodeId(names[0]), static_cast<std::uint32_t>(devices.value_or(0))});
    return place;
  }
  std::uint64_t sum = 0;
  std::set<std::string> seen;
  for (const std::string& name : names) {
    const auto [node, number] = split_pair(name);
    const auto count = parse_count(number, limits::kGpusPerHoldingMax);
    if (node.empty() || !count) {
      cells.refuse("node", fmt::format("'{}' does not say how many devices of it are held; write "
                                       "n1=4;n2=4",
                                       name.substr(0, 80)));
      return {};
    }
    if (!seen.emplace(node).second) {
      cells.refuse("node", fmt::format("node '{}' appears twice", node.substr(0, 80)));
      return {};
    }
    sum += *count;
    place.parts.push_back({NodeId(std::string(node)), static_cast<std::uint32_t>(*count)});
  }
  if (sum > limits::kGpusPerHoldingMax) {
    cells.refuse("node", fmt::format("more than {} devices", limits::kGpusPerHoldingMax));
  }
  if (devices && *devices != sum) {
    cells.refuse("devices",
                 fmt::format("{} devices, and the nodes add up to {}; leave it empty, or "
                             "correct one of the two",
                             *devices, sum));
  }
  return place;
}

InPool in_pool(csv::Cells& cells) {
  const auto devices = devices_of(cells);
  if (!devices) cells.refuse("devices", "how many devices of the pool are held is not said");
  InPool place{.pools = {}, .devices = static_cast<std::uint32_t>(devices.value_or(0))};
  if (cells.text("pool") == "*") return place;
  for (std::string& name : names_of(cells, "pool")) place.pools.emplace_back(std::move(name));
  return place;
}

// "0.25", or "1/3".
CardShare share_of(csv::Cells& cells, std::string_view column) {
  const std::string_view text = cells.text(column);
  std::optional<CardShare> share;
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    constexpr std::uint64_t kPartsMax = 1'000'000;
    const auto parts = parse_count(text.substr(0, slash), kPartsMax);
    const auto whole = parse_count(text.substr(slash + 1), kPartsMax);
    if (parts && whole && *parts > 0 && *parts <= *whole) share = CardShare::of(*parts, *whole);
  } else if (const auto decimal = parse_exact_decimal(text);
             decimal && *decimal > Decimal() && *decimal <= Decimal::from_units(1)) {
    share = CardShare::of(static_cast<std::uint64_t>(decimal->ticks()), Decimal::kTicksPerUnit);
  }
  if (!share) {
    cells.refuse(column,
                 fmt::format("'{}' is not a part of a GPU that can be stored exactly; write more "
                             "than 0 and at most 1, in thousandths (0.333) or as 1/3",
                             text.substr(0, 60)));
  }
  return share.value_or(CardShare{});
}

Device fraction_of(csv::Cells& cells) {
  const bool both = cells.has("compute_fraction") && cells.has("memory_fraction");
  if (!cells.has("fraction") && !both) {
    cells.refuse(
        cells.has("compute_fraction") ? "memory_fraction" : "compute_fraction",
        "of compute_fraction and memory_fraction one is missing; give both, or `fraction`");
  }
  if (cells.has("fraction") && (cells.has("compute_fraction") || cells.has("memory_fraction"))) {
    cells.refuse("fraction", "give `fraction` alone, or compute_fraction and memory_fraction");
  }
  if (cells.refusal()) return WholeGpu{};
  const CardShare compute = share_of(cells, both ? "compute_fraction" : "fraction");
  const CardShare memory = both ? share_of(cells, "memory_fraction") : compute;
  if (compute == CardShare::whole() && memory == CardShare::whole()) return WholeGpu{};
  return CardFraction{compute, memory};
}

Device slice_of(csv::Cells& cells, std::string_view profile) {
  const GpuModel* const model = find_gpu_model(cells.text("gpu_model"));
  if (model != nullptr) {
    const auto share = find_mig_share(*model, profile);
    if (!share) cells.refuse("profile", share.error().message);
  }
  return MigSlice{std::string(profile)};
}

// The one profile of the instances that a row names.
Device slices_of(csv::Cells& cells, const OnGpus& instances, const ClusterId& cluster,
                 const HoldingOptions& options) {
  const std::string_view given = cells.optional_name("profile");
  if (!given.empty()) return slice_of(cells, given);
  std::string profile;
  for (const GpuId& instance : instances.gpus) {
    const auto known =
        options.find_mig_profile ? options.find_mig_profile(cluster, instance) : std::nullopt;
    if (!known || known->empty()) {
      cells.refuse("profile",
                   fmt::format("the profile of MIG instance '{}' is not known; fill it in, "
                               "or import the table of GPUs first",
                               instance.text()));
      return WholeGpu{};
    }
    if (!profile.empty() && profile != *known) {
      cells.refuse("mig", fmt::format("instances of different profiles, {} and {}; write a row for "
                                      "each profile",
                                      profile, *known));
      return WholeGpu{};
    }
    profile = *known;
  }
  return MigSlice{profile};
}

// A device as the ledger writes it, for devices without columns of their own.
Device device_of(csv::Cells& cells) {
  const std::string_view text = cells.text("device");
  const auto device = parse_device(text);
  if (!device) {
    cells.refuse(
        "device",
        fmt::format("'{}' is not a device; write gpu, shard, mps, replica, mig 3g.20gb, or "
                    "vgpu cores=30 memory=4294967296",
                    text.substr(0, 80)));
    return WholeGpu{};
  }
  if (const auto* slice = std::get_if<MigSlice>(&*device)) return slice_of(cells, slice->profile);
  if (const auto* part = std::get_if<CardFraction>(&*device);
      part != nullptr && (part->compute > CardShare::whole() || part->memory > CardShare::whole() ||
                          part->compute == CardShare{} || part->memory == CardShare{})) {
    cells.refuse("device", "is not a part of one card; a holder of several has several devices");
  }
  if (const auto* part = std::get_if<VirtualGpu>(&*device);
      part != nullptr && (part->cores_percent > 100u || part->memory_percent > 100u)) {
    cells.refuse("device", "a virtual GPU has at most 100 percent of a card");
  }
  return *device;
}

}  // namespace

HoldingRequest read_request(csv::Cells& cells, const ClusterId& cluster,
                            const HoldingOptions& options) {
  HoldingRequest request{.device = WholeGpu{}, .placement = InPool{{}, 0}};
  const std::string_view place = place_of(cells);
  if (place == "gpu" || place == "mig") request.placement = on_gpus(cells, place);
  if (place == "node") request.placement = on_nodes(cells);
  if (place == "pool") request.placement = in_pool(cells);
  if (cells.refusal()) return request;

  const bool fraction =
      cells.has("fraction") || cells.has("compute_fraction") || cells.has("memory_fraction");
  const std::string_view profile = cells.optional_name("profile");
  if (cells.has("device") && (fraction || !profile.empty() || place == "mig")) {
    cells.refuse("device", "what is held is said twice; keep `device`, or the other columns");
  } else if (cells.has("device")) {
    request.device = device_of(cells);
  } else if (fraction && (!profile.empty() || place == "mig")) {
    cells.refuse("fraction", "a MIG instance has a profile, not a fraction; keep one of the two");
  } else if (place == "gpu" && !profile.empty()) {
    cells.refuse("profile", "a whole card has no MIG profile; name the instance in `mig` instead");
  } else if (place == "mig") {
    request.device = slices_of(cells, std::get<OnGpus>(request.placement), cluster, options);
  } else if (!profile.empty()) {
    request.device = slice_of(cells, profile);
  } else if (fraction) {
    request.device = fraction_of(cells);
  }
  if (devices_of(cells) == 0u && !std::holds_alternative<WholeGpu>(request.device)) {
    cells.refuse("devices", "no device is held, of which a part can't be; correct one of the two");
  }
  return request;
}

}  // namespace pennyweight::inventory
