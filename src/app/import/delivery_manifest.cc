#include "app/import/delivery_manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "app/import/export_manifest.h"
#include "core/ascii.h"
#include "core/files/file.h"
#include "core/limits.h"
#include "core/try.h"

namespace pennyweight {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kManifestBytesMax = std::size_t{16} << 20;

std::string last_name(std::string_view path) {
  return std::string(path.substr(path.find_last_of("/\\") + 1));
}

bool is_manifest_name(std::string name) {
  for (char& c : name) c = ascii::to_lower(c);
  return name.ends_with("manifest.json");
}

// "…/data/BILLING_PERIOD=2026-03" → "…/metadata/BILLING_PERIOD=2026-03"; empty: it is no such
// folder.
fs::path metadata_beside(const fs::path& folder) {
  fs::path beside;
  bool has_data = false;
  for (const fs::path& part : folder) {
    has_data |= part == "data";
    beside /= part == "data" ? fs::path("metadata") : part;
  }
  return has_data ? beside : fs::path();
}

// Sorted; without documents that are no manifest of an export.
Result<std::vector<std::pair<std::string, std::vector<ManifestObject>>>> manifests_of(
    const fs::path& folder) {
  std::vector<std::string> paths;
  for (const fs::path& where : {folder, metadata_beside(folder)}) {
    std::error_code ignored;
    if (where.empty()) continue;
    for (const auto& entry : fs::directory_iterator(where, ignored)) {
      if (is_manifest_name(entry.path().filename().string()))
        paths.push_back(entry.path().string());
    }
  }
  std::ranges::sort(paths);
  std::vector<std::pair<std::string, std::vector<ManifestObject>>> manifests;
  for (const std::string& path : paths) {
    const std::string text = TRY(read_file(path, kManifestBytesMax));
    auto parts = read_export_manifest(text);
    if (parts) {
      manifests.emplace_back(path, *std::move(parts));
    } else if (parts.error().code != ErrorCode::kUnsupported) {
      return fail(
          ErrorCode::kBadFile,
          fmt::format("{} is the manifest of a delivery and can't be read ({}); fetch it again",
                      path, parts.error().message));
    }
  }
  return manifests;
}

// What is wrong with a part; empty: it is among the files, and whole.
std::string fault_of(const ManifestObject& part, const fs::path& folder,
                     const std::set<std::string>& names, const std::string& manifest) {
  const std::string name = last_name(part.key);
  if (!names.contains(name)) return fmt::format("{} is missing", name);
  std::error_code ignored;
  const auto bytes = fs::file_size(folder / name, ignored);
  if (!part.bytes || bytes == *part.bytes) return {};
  return fmt::format("{} has {} bytes, but {} says {}: the file is not complete; fetch it again",
                     name, bytes, manifest, *part.bytes);
}

}  // namespace

Result<std::optional<IncompleteDelivery>> find_incomplete(const std::vector<std::string>& files) {
  std::map<std::string, std::set<std::string>> names_by_folder;
  for (const std::string& file : files) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) continue;
    names_by_folder[fs::path(file).parent_path().string()].insert(last_name(file));
  }
  for (const auto& [folder, names] : names_by_folder) {
    const fs::path where = folder.empty() ? fs::path(".") : fs::path(folder);
    const auto manifests = TRY(manifests_of(where));
    for (const auto& [manifest, parts] : manifests) {
      const bool is_of_these = std::ranges::any_of(
          parts, [&](const ManifestObject& part) { return names.contains(last_name(part.key)); });
      if (!is_of_these) continue;
      IncompleteDelivery found{.manifest = manifest,
                               .parts = parts.size(),
                               .part = 0,
                               .here = {},
                               .cut = {},
                               .fault = {}};
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::string fault = fault_of(parts[i], where, names, manifest);
        if (fault.empty()) {
          found.part = i + 1;
          found.here.push_back((fs::path(folder) / last_name(parts[i].key)).string());
          continue;
        }
        if (names.contains(last_name(parts[i].key))) {
          found.cut.push_back((fs::path(folder) / last_name(parts[i].key)).string());
        }
        if (found.fault.empty()) found.fault = fault;
      }
      if (!found.fault.empty()) return found;
    }
  }
  return std::nullopt;
}

}  // namespace pennyweight
