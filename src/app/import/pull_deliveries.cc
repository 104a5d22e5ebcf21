#include "app/import/pull_deliveries.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "core/hash.h"
#include "core/try.h"

namespace pennyweight {
namespace {

std::string_view parent_of(std::string_view key) {
  const std::size_t slash = key.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : key.substr(0, slash);
}

std::string_view base_of(std::string_view key) { return key.substr(key.rfind('/') + 1); }

bool is_azure_manifest(std::string_view key) {
  return base_of(key) == "manifest.json" || base_of(key) == "_manifest.json";
}

// Files that stand beside the data of an export and are none of it.
bool is_beside(std::string_view key) {
  const std::string_view name = base_of(key);
  return name.starts_with('_') || name.starts_with('.') || name.ends_with(".crc") ||
         name.ends_with(".sql") || name.ends_with(".yml") || name.ends_with(".part");
}

std::string key_print(std::string_view key) { return to_text(hash_of(key)); }

std::string part_print(const objects::ObjectEntry& part) {
  Fingerprint print;
  print.add(part.key).add(part.version).add(static_cast<std::int64_t>(part.bytes));
  return to_text(print.hash());
}

// What one manifest replaces: AWS's of the same name in a folder below, Azure's in a folder beside.
bool is_superseded(const objects::ObjectEntry& manifest,
                   std::span<const objects::ObjectEntry> all) {
  const std::string_view folder = parent_of(manifest.key);
  return std::ranges::any_of(all, [&](const objects::ObjectEntry& other) {
    if (other.key == manifest.key || !is_manifest(other.key)) return false;
    const std::string_view other_folder = parent_of(other.key);
    if (is_azure_manifest(manifest.key)) {
      if (!is_azure_manifest(other.key) || parent_of(folder) != parent_of(other_folder)) {
        return false;
      }
      return std::tie(other.modified_at, other.key) > std::tie(manifest.modified_at, manifest.key);
    }
    return base_of(other.key) == base_of(manifest.key) && parent_of(folder) == other_folder;
  });
}

}  // namespace

ImportedDelivery ImportedDelivery::of(const PulledDelivery& delivery) {
  ImportedDelivery imported{.version = delivery.version(), .parts = {}};
  for (const objects::ObjectEntry& part : delivery.parts) {
    imported.parts.emplace(key_print(part.key), part_print(part));
  }
  return imported;
}

bool ImportedDelivery::is_unchanged(const PulledDelivery& now) const {
  if (now.missing.empty() && version == now.version()) return true;
  // Without a manifest the files of a folder are all that it is; and a part that is there in
  // another size is a new one.
  if (!now.has_manifest || now.absent.size() != now.missing.size()) return false;
  const bool are_known = std::ranges::all_of(now.parts, [&](const objects::ObjectEntry& part) {
    const auto known = parts.find(key_print(part.key));
    return known != parts.end() && known->second == part_print(part);
  });
  if (!are_known || parts.empty()) return false;
  return now.parts.size() + now.absent.size() == parts.size() &&
         std::ranges::all_of(
             now.absent, [&](const std::string& key) { return parts.contains(key_print(key)); });
}

std::string ImportedDelivery::to_text() const {
  std::string text = version;
  char before = ':';
  for (const auto& [key, part] : parts) {
    text += fmt::format("{}{}={}", before, key, part);
    before = ',';
  }
  return text;
}

ImportedDelivery ImportedDelivery::parse(std::string_view text) {
  ImportedDelivery imported;
  const std::size_t colon = std::min(text.find(':'), text.size());
  imported.version = text.substr(0, colon);
  text.remove_prefix(std::min(colon + 1, text.size()));
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    imported.parts.emplace(part.substr(0, equals), part.substr(equals + 1));
  }
  return imported;
}

std::string PulledDelivery::version() const {
  Fingerprint all;
  for (const objects::ObjectEntry& part : parts) {
    all.add(part.key).add(part.version).add(static_cast<std::int64_t>(part.bytes));
  }
  return to_text(all.hash());
}

bool is_manifest(std::string_view key) {
  return base_of(key).ends_with("-Manifest.json") || is_azure_manifest(key);
}

Result<std::vector<PulledDelivery>> group_objects(
    std::span<const objects::ObjectEntry> listing,
    const std::map<std::string, std::string>& manifests) {
  std::vector<PulledDelivery> all;
  std::set<std::string> named;                  // by a manifest, whichever
  std::set<std::string, std::less<>> exported;  // folders in which manifests decide
  for (const objects::ObjectEntry& entry : listing) {
    const auto text = manifests.find(entry.key);
    if (text == manifests.end()) continue;
    auto parts = read_export_manifest(text->second);
    if (!parts) return std::unexpected(parts.error().during(entry.key));
    exported.emplace(parent_of(entry.key));
    for (const ManifestObject& part : *parts) {
      named.insert(part.key);
      exported.emplace(parent_of(part.key));
    }
    if (is_superseded(entry, listing)) continue;
    PulledDelivery delivery{
        .name = entry.key, .parts = {}, .missing = {}, .absent = {}, .has_manifest = true};
    for (const ManifestObject& part : *parts) {
      const auto found = std::ranges::find(listing, part.key, &objects::ObjectEntry::key);
      if (found == listing.end()) {
        delivery.missing.push_back(part.key);
        delivery.absent.push_back(part.key);
      } else if (part.bytes && *part.bytes != found->bytes) {
        delivery.missing.push_back(
            fmt::format("{} ({} bytes of {})", part.key, found->bytes, *part.bytes));
      } else {
        delivery.parts.push_back(*found);
      }
    }
    all.push_back(std::move(delivery));
  }
  std::map<std::string, PulledDelivery> folders;
  for (const objects::ObjectEntry& entry : listing) {
    if (is_manifest(entry.key) || is_beside(entry.key) || named.contains(entry.key)) continue;
    const std::string folder(parent_of(entry.key));
    if (exported.contains(folder)) continue;  // of an earlier export, which no manifest names now
    PulledDelivery& delivery = folders[folder];
    delivery.name = folder.empty() ? "(top)" : folder;
    delivery.parts.push_back(entry);
  }
  for (auto& [folder, delivery] : folders) all.push_back(std::move(delivery));
  std::ranges::sort(all, {}, &PulledDelivery::name);
  return all;
}

}  // namespace pennyweight
