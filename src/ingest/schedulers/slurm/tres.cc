#include "ingest/schedulers/slurm/tres.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/int128.h"
#include "core/limits.h"
#include "core/try.h"
#include "ingest/schedulers/slurm/duration.h"
#include "ingest/schedulers/slurm/mig_type.h"

namespace pennyweight::slurm {
namespace {

constexpr std::uint64_t kMpsPerCard = 100;

std::unexpected<Error> bad_tres(std::string message) {
  return fail(ErrorCode::kBadValue, std::move(message));
}

// Types go into keys and texts of the ledger, so they are plain printable ASCII, without '@', which
// distinguishes the groups of one type (append_mps).
bool is_plain(std::string_view text) {
  return text.size() <= 128 && std::all_of(text.begin(), text.end(), [](char c) {
           return c > ' ' && c < '\x7f' && c != '@';
         });
}

Result<void> add_entry(Tres& tres, std::string_view key, std::string_view value) {
  if (key.starts_with("gres/")) {
    key.remove_prefix(5);
    const std::string_view name = key.substr(0, key.find(':'));
    if (name != "gpu" && name != "shard" && name != "mps") return {};
    const auto count = parse_count(value);
    if (!count) return std::unexpected(count.error().during(fmt::format("gres/{}", key)));
    return add_gres(tres, key, *count);
  }
  if (key == "cpu") {
    const auto count = parse_count(value);
    if (!count) return std::unexpected(count.error().during("cpu"));
    if (tres.cpus) return bad_tres("cpu appears twice");
    tres.cpus = *count;
  } else if (key == "mem") {
    const auto bytes = parse_memory_bytes(value);
    if (!bytes) return std::unexpected(bytes.error().during("mem"));
    if (tres.memory_bytes) return bad_tres("mem appears twice");
    tres.memory_bytes = *bytes;
  }
  return {};
}

// What a job holds of one gres: by type, and the rest of the total that no type covers.
Result<std::vector<Gres>> by_type(const Tres& tres, std::string_view name) {
  std::vector<Gres> typed;
  std::optional<std::uint64_t> total;
  UInt128 sum = 0;
  for (const Gres& gres : tres.gres) {
    if (gres.name != name) continue;
    if (gres.type.empty()) {
      total = gres.count;
    } else if (gres.count > 0) {
      typed.push_back(gres);
      sum += gres.count;
    }
  }
  if (total && sum > *total) {
    return bad_tres(
        fmt::format("gres/{0}={1}, but its types together are {2}; they should not exceed it", name,
                    *total, to_text(sum)));
  }
  const UInt128 all = total ? UInt128{*total} : sum;
  if (all > limits::kGpusPerHoldingMax) {
    return bad_tres(fmt::format("{} of gres/{}, more than the limit of {}", to_text(all), name,
                                limits::kGpusPerHoldingMax));
  }
  if (all > sum) {
    typed.push_back(
        {.name = std::string(name), .type = "", .count = static_cast<std::uint64_t>(all - sum)});
  }
  return typed;
}

std::string group_name(const Gres& gres) {
  return gres.type.empty() ? gres.name : gres.name + ":" + gres.type;
}

DeviceGroup gpu_group(const Gres& gres) {
  if (auto mig = parse_mig_type(gres.type)) {
    return {.name = group_name(gres),
            .device = MigSlice{std::move(mig->profile)},
            .gpu_model = std::move(mig->model),
            .count = gres.count};
  }
  return {
      .name = group_name(gres), .device = WholeGpu{}, .gpu_model = gres.type, .count = gres.count};
}

// Spreads the hundredths of GPUs as evenly as whole hundredths allow; a remainder makes a second
// group.
void append_mps(const Gres& gres, std::uint64_t nodes, std::vector<DeviceGroup>& groups) {
  const std::uint64_t cards = (gres.count + kMpsPerCard - 1) / kMpsPerCard;
  const std::uint64_t devices = std::min(std::max({cards, nodes, std::uint64_t{1}}), gres.count);
  const std::uint64_t percent = gres.count / devices;
  const std::uint64_t larger = gres.count % devices;  // so many hold one hundredth more
  const auto append = [&](std::uint64_t hundredths, std::uint64_t count) {
    if (count == 0) return;
    const CardShare share = *CardShare::of(hundredths, kMpsPerCard);
    groups.push_back({.name = larger == 0 ? group_name(gres)
                                          : fmt::format("{}@{}", group_name(gres), hundredths),
                      .device = CardFraction{.compute = share, .memory = share},
                      .gpu_model = gres.type,
                      .count = count});
  };
  append(percent + 1, larger);
  append(percent, devices - larger);
}

}  // namespace

Result<void> add_gres(Tres& tres, std::string_view name_and_type, std::uint64_t count) {
  const std::size_t colon = name_and_type.find(':');
  const std::string_view name = name_and_type.substr(0, colon);
  if (name != "gpu" && name != "shard" && name != "mps") return {};
  std::string_view type;
  if (colon != std::string_view::npos) {
    type = name_and_type.substr(colon + 1);
    if (type.empty()) return bad_tres(fmt::format("gres/{}: has no type after the colon", name));
    if (!is_plain(type))
      return bad_tres(fmt::format("the type of gres/{} has characters that are not allowed", name));
  }
  for (const Gres& there : tres.gres) {
    if (there.name == name && there.type == type) {
      return bad_tres(fmt::format("gres/{} appears twice", name_and_type));
    }
  }
  tres.gres.push_back({.name = std::string(name), .type = std::string(type), .count = count});
  return {};
}

Result<Tres> parse_tres(std::string_view text) {
  Tres tres;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view entry = text.substr(0, comma);
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return bad_tres(
          fmt::format("'{}' is not a resource such as gres/gpu=4", entry.substr(0, 40)));
    }
    TRY(add_entry(tres, entry.substr(0, equals), entry.substr(equals + 1)));
    if (comma == std::string_view::npos) return tres;
    text.remove_prefix(comma + 1);
    if (text.empty()) return bad_tres("it ends with a comma, so something was cut off");
  }
  return tres;
}

Result<std::uint64_t> parse_memory_bytes(std::string_view text) {
  const auto refuse = [&] {
    return bad_tres(
        fmt::format("'{}' is not an amount of memory such as 480G", text.substr(0, 40)));
  };
  std::string_view number = text;
  int shift = 20;
  constexpr std::string_view kUnits = "KMGTP";
  if (!number.empty()) {
    if (const std::size_t unit = kUnits.find(number.back()); unit != std::string_view::npos) {
      shift = 10 * (static_cast<int>(unit) + 1);
      number.remove_suffix(1);
    }
  }
  const std::size_t point = number.find('.');
  const auto whole = parse_count(number.substr(0, point));
  if (!whole) return refuse();
  UInt128 bytes = UInt128{*whole} << shift;
  if (point != std::string_view::npos) {
    const std::string_view digits = number.substr(point + 1);
    const auto fraction = parse_count(digits);
    if (!fraction || digits.size() > 9) return refuse();
    UInt128 scale = 1;
    for (std::size_t i = 0; i < digits.size(); ++i) scale *= 10;
    bytes += (UInt128{*fraction} << shift) / scale;
  }
  if (bytes > static_cast<UInt128>(INT64_MAX)) return refuse();
  return static_cast<std::uint64_t>(bytes);
}

Result<std::vector<DeviceGroup>> device_groups(const Tres& tres, std::uint64_t nodes) {
  std::vector<DeviceGroup> groups;
  for (const std::string_view name : {"gpu", "mps", "shard"}) {
    const auto held = TRY(by_type(tres, name));
    for (const Gres& gres : held) {
      if (name == "gpu") {
        groups.push_back(gpu_group(gres));
      } else if (name == "mps") {
        append_mps(gres, nodes, groups);
      } else {
        groups.push_back({.name = group_name(gres),
                          .device = Shard{},
                          .gpu_model = gres.type,
                          .count = gres.count});
      }
    }
  }
  std::sort(groups.begin(), groups.end(),
            [](const DeviceGroup& a, const DeviceGroup& b) { return a.name < b.name; });
  return groups;
}

}  // namespace pennyweight::slurm
