// The table of data/fleet/mig_profiles.csv, and the spellings of a profile.
#include "core/gpu/mig_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/ascii.h"
#include "core/check.h"
#include "core/gpu/embedded.h"
#include "core/gpu/normal_name.h"
#include "core/gpu/plain_table.h"
#include "core/try.h"
#include "core/whole_count.h"

namespace pennyweight {
namespace {

constexpr std::uint64_t kProfileTableNumberMax = 1'000'000;

// By geometry, in the order of the table.
using Profiles = std::map<std::string, std::vector<MigProfile>, std::less<>>;

std::uint32_t table_count(std::string_view text) {
  return static_cast<std::uint32_t>(parse_count(text, kProfileTableNumberMax).value());
}

std::optional<std::uint32_t> measured_count(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(table_count(text));
}

const MigProfile* find_name(std::span<const MigProfile> profiles, std::string_view name) {
  const auto at = std::ranges::find(profiles, name, &MigProfile::name);
  return at == profiles.end() ? nullptr : &*at;
}

Profiles read_profiles() {
  constexpr std::string_view kColumns[] = {"gpu",           "profile",       "compute_slices",
                                           "memory_slices", "max_instances", "measured_sms",
                                           "gpu_sms"};
  const auto table = PlainTable::parse(embedded::mig_profiles_csv(), "mig_profiles.csv",
                                       {.required = kColumns, .others_ignored = true});
  CHECK(table.has_value(), "the built-in table is read by a test");
  Profiles profiles;
  for (std::size_t i = 0; i < table->size(); ++i) {
    const auto row = table->row(i);
    std::vector<MigProfile>& of_geometry = profiles[std::string(row[0])];
    CHECK(find_name(of_geometry, row[1]) == nullptr, "a profile stands once in its geometry");
    of_geometry.push_back({.geometry = std::string(row[0]),
                           .name = std::string(row[1]),
                           .compute_slices = table_count(row[2]),
                           .memory_slices = table_count(row[3]),
                           .max_instances = table_count(row[4]),
                           .multiprocessors = measured_count(row[5]),
                           .card_multiprocessors = measured_count(row[6])});
  }
  return profiles;
}

// Read once and never changed.
const Profiles& built_in_profiles() {
  static const Profiles profiles = read_profiles();
  return profiles;
}

// The parts of a written profile: the prefix "a100" of "a100_3g.20gb" or "mig" of
// "nvidia.com/mig-3g.20gb", the slices of a compute instance, and the profile proper.
struct Spelling {
  std::string prefix;                            // normal name; empty: none
  std::optional<std::uint64_t> instance_slices;  // 1 of "1c.3g.20gb"
  std::string profile;                           // "3g.20gb+me"
};

std::optional<std::uint64_t> read_slices(std::string_view text) {
  const auto slices = parse_count(text, kProfileTableNumberMax);
  return slices ? std::optional(*slices) : std::nullopt;
}

// Kubernetes writes "+me" as ".me".
std::string with_plus(std::string profile) {
  const std::size_t memory = profile.find("gb");
  if (memory == std::string::npos) return profile;
  const std::size_t suffix = memory + 2;
  if (suffix < profile.size() && profile[suffix] == '.') profile[suffix] = '+';
  return profile;
}

Spelling read_spelling(std::string_view text) {
  const std::string lowered = ascii::lower_case(text);
  Spelling spelling;
  std::string_view rest = lowered;
  // The profile follows "mig-" in Kubernetes' names and the last '_' in Slurm's types. A '-' alone
  // does not separate, since profiles may have "-me".
  const std::size_t mig = rest.rfind("mig-");
  const std::size_t mark = mig != std::string_view::npos ? mig : rest.find_last_of("_/ ");
  if (mark != std::string_view::npos) {
    const std::string_view before = rest.substr(0, mark);
    // "nvidia.com/" is a resource domain, not a model.
    if (!before.ends_with('/')) spelling.prefix = normal_gpu_name(before);
    rest.remove_prefix(mark + (mig != std::string_view::npos ? 4 : 1));
  }
  const std::size_t dot = rest.find('.');
  if (dot != std::string_view::npos && dot > 1 && rest[dot - 1] == 'c') {
    spelling.instance_slices = read_slices(rest.substr(0, dot - 1));
    if (spelling.instance_slices) rest.remove_prefix(dot + 1);
  }
  spelling.profile = with_plus(std::string(rest));
  return spelling;
}

// "a100" of "A100-SXM4-40GB".
std::string family_of(const GpuModel& model) {
  return normal_gpu_name(std::string_view(model.name).substr(0, model.name.find('-')));
}

// Whether a prefix names another model than this one; other prefixes are the site's own names.
bool contradicts(std::string_view prefix, const GpuModel& model) {
  if (prefix.empty()) return false;
  if (const GpuModel* named = find_gpu_model(prefix)) {
    // Boards of one family and memory have the same profiles.
    return named->memory_bytes != model.memory_bytes || family_of(*named) != family_of(model);
  }
  if (prefix.starts_with(family_of(model))) return false;
  for (const GpuModel& other : gpu_models()) {
    if (other.mig_compute_slices > 0 && prefix.starts_with(family_of(other))) return true;
  }
  return false;
}

CardShare exact_share(std::uint64_t parts, std::uint64_t whole) {
  const auto share = CardShare::of(parts, whole);
  CHECK(share.has_value(), "CardShare holds sevenths, eighths and their parts exactly");
  return *share;
}

}  // namespace

Result<MigProfileUse> find_mig_profile(const GpuModel& model, std::string_view text) {
  const auto refuse = [&](std::string_view reason) {
    return fail(ErrorCode::kBadValue,
                fmt::format("MIG profile '{}' on a {}: {}", text, model.name, reason));
  };
  if (model.mig_geometries.empty()) return refuse("this model has no MIG");
  const Spelling spelling = read_spelling(text);
  if (contradicts(spelling.prefix, model)) return refuse("the name is of another model");

  for (const std::string& geometry : model.mig_geometries) {
    const MigProfile* profile = find_name(mig_profiles(geometry), spelling.profile);
    if (profile == nullptr) continue;
    const std::uint64_t taken = spelling.instance_slices.value_or(profile->compute_slices);
    if (taken == 0 || taken > profile->compute_slices) {
      return refuse(
          fmt::format("a compute instance has 1 to {} of its slices", profile->compute_slices));
    }
    return MigProfileUse{.profile = profile, .compute_slices = static_cast<std::uint32_t>(taken)};
  }
  return refuse("no such profile of this model in the table; see data/fleet/mig_profiles.csv");
}

Result<MigShare> find_mig_share(const GpuModel& model, std::string_view profile) {
  const auto use = TRY(find_mig_profile(model, profile));
  const std::uint64_t taken = use.compute_slices;
  return MigShare{
      .compute = exact_share(taken, model.mig_compute_slices),
      .memory = exact_share(use.profile->memory_slices * taken,
                            std::uint64_t{model.mig_memory_slices} * use.profile->compute_slices)};
}

std::span<const MigProfile> mig_profiles(std::string_view geometry) {
  const auto at = built_in_profiles().find(geometry);
  if (at == built_in_profiles().end()) return {};
  return at->second;
}

std::vector<std::uint32_t> mig_placements(const GpuModel& model, const MigProfile& profile) {
  CHECK(profile.memory_slices > 0, "an instance has memory");
  std::vector<std::uint32_t> starts;
  for (std::uint32_t start = 0; start + profile.memory_slices <= model.mig_memory_slices;
       start += profile.memory_slices) {
    if (start + profile.compute_slices <= model.mig_compute_slices) starts.push_back(start);
  }
  return starts;
}

}  // namespace pennyweight
