#include "app/import/export_manifest.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <utility>

namespace pennyweight {
namespace {

// "s3://bucket/exports/a.parquet" and "bucket/…" name a key of the bucket.
std::string key_in_bucket(std::string_view text) {
  constexpr std::string_view kScheme = "s3://";
  if (text.starts_with(kScheme)) {
    text.remove_prefix(kScheme.size());
    text.remove_prefix(std::min(text.find('/') + 1, text.size()));
  }
  return std::string(text);
}

}  // namespace

Result<std::vector<ManifestObject>> read_export_manifest(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::object root;
  const simdjson::padded_string padded(json);
  if (parser.parse(padded).get(root) != simdjson::SUCCESS) {
    return fail(ErrorCode::kBadFile, "the manifest is not a JSON object");
  }
  std::vector<ManifestObject> parts;
  for (const char* list : {"reportKeys", "dataFiles"}) {  // AWS: CUR, and data exports
    simdjson::dom::array keys;
    if (root[list].get(keys) != simdjson::SUCCESS) continue;
    for (const auto& item : keys) {
      std::string_view key;
      if (item.get(key) != simdjson::SUCCESS) {
        return fail(ErrorCode::kBadFile, fmt::format("the manifest's {} must be strings", list));
      }
      parts.push_back({key_in_bucket(key), std::nullopt});
    }
    return parts;
  }
  simdjson::dom::array blobs;  // Azure
  if (root["blobs"].get(blobs) != simdjson::SUCCESS) {
    return fail(ErrorCode::kUnsupported,
                "the manifest has none of reportKeys, dataFiles (AWS) and blobs (Azure)");
  }
  for (const auto& item : blobs) {
    std::string_view name;
    if (item["blobName"].get(name) != simdjson::SUCCESS) {
      return fail(ErrorCode::kBadFile, "a blob of the manifest has no blobName");
    }
    ManifestObject part{std::string(name), std::nullopt};
    std::uint64_t bytes = 0;
    if (item["byteCount"].get(bytes) == simdjson::SUCCESS) part.bytes = bytes;
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace pennyweight
