#include "app/import/delivery_manifest.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

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

// The names in a list of texts: reportKeys, dataFiles.
void add_names(simdjson::dom::element document, const char* list,
               std::vector<ManifestPart>& parts) {
  simdjson::dom::array keys;
  if (document[list].get(keys) != simdjson::SUCCESS) return;
  for (const simdjson::dom::element key : keys) {
    std::string_view name;
    if (key.get(name) == simdjson::SUCCESS) parts.push_back({last_name(name), std::nullopt});
  }
}

}  // namespace

Result<std::vector<ManifestPart>> parts_of_manifest(const std::string& path) {
  const std::string text = TRY(read_file(path, kManifestBytesMax));
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  if (parser.parse(text).get(document) != simdjson::SUCCESS || !document.is_object()) {
    return fail(
        ErrorCode::kBadFile,
        fmt::format("{} is the manifest of a delivery and can't be read; fetch it again", path));
  }
  std::vector<ManifestPart> parts;
  add_names(document, "reportKeys", parts);
  add_names(document, "dataFiles", parts);
  simdjson::dom::array blobs;
  if (document["blobs"].get(blobs) == simdjson::SUCCESS) {
    for (const simdjson::dom::element blob : blobs) {
      std::string_view name;
      if (blob["blobName"].get(name) != simdjson::SUCCESS) continue;
      ManifestPart part{last_name(name), std::nullopt};
      std::uint64_t bytes = 0;
      if (blob["byteCount"].get(bytes) == simdjson::SUCCESS) part.bytes = bytes;
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

Result<void> check_manifests(const std::vector<std::string>& files) {
  std::map<std::string, std::set<std::string>> names_by_folder;
  for (const std::string& file : files) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored)) continue;
    names_by_folder[fs::path(file).parent_path().string()].insert(last_name(file));
  }
  for (const auto& [folder, names] : names_by_folder) {
    const fs::path where = folder.empty() ? fs::path(".") : fs::path(folder);
    std::error_code ignored;
    std::vector<std::string> manifests;
    for (const auto& entry : fs::directory_iterator(where, ignored)) {
      if (is_manifest_name(entry.path().filename().string())) {
        manifests.push_back(entry.path().string());
      }
    }
    std::ranges::sort(manifests);
    for (const std::string& manifest : manifests) {
      const auto parts = TRY(parts_of_manifest(manifest));
      const bool is_of_these = std::ranges::any_of(
          parts, [&](const ManifestPart& part) { return names.contains(part.name); });
      if (!is_of_these) continue;
      for (const ManifestPart& part : parts) {
        if (!names.contains(part.name)) {
          return fail(
              ErrorCode::kBadFile,
              fmt::format("{} is missing: {} names {} parts of the delivery, and all of them "
                          "must come together; nothing was imported",
                          part.name, manifest, parts.size()));
        }
        const auto bytes = fs::file_size(where / part.name, ignored);
        if (part.bytes && bytes != *part.bytes) {
          return fail(ErrorCode::kBadFile,
                      fmt::format("{} has {} bytes, but {} says {}: the file is not complete; "
                                  "fetch it again; nothing was imported",
                                  part.name, bytes, manifest, *part.bytes));
        }
      }
    }
  }
  return {};
}

}  // namespace pennyweight
