// Which objects of a listing belong together as one delivery.
//
// A manifest says so: AWS writes NAME-Manifest.json with the files of a month, Azure manifest.json
// with the blobs of an export. A part that a manifest names and the store lacks makes its delivery
// incomplete. Of several manifests of one month only the newest counts: AWS keeps those of earlier
// assemblies in folders below, Azure those of earlier runs in folders beside. Files without a
// manifest are taken folder by folder.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/import/export_manifest.h"
#include "core/error.h"
#include "core/objects/object_store.h"

namespace pennyweight {

struct PulledDelivery {
  std::string name;  // the manifest's key, or the folder
  std::vector<objects::ObjectEntry> parts;
  std::vector<std::string> missing;  // what the manifest names and the store lacks, in words
  std::vector<std::string> absent;   // the keys among it of which nothing is there
  bool has_manifest = false;
  // A fingerprint of the parts' keys and versions: it changes when the delivery does.
  std::string version() const;
};

// What is known of a delivery that was imported whole, so that it stays imported when the store
// deletes parts of it, as a bucket's lifecycle rules do.
struct ImportedDelivery {
  std::string version;                       // PulledDelivery::version()
  std::map<std::string, std::string> parts;  // fingerprint of the key → of key, version and size

  static ImportedDelivery of(const PulledDelivery& delivery);
  // Whether `now` is that delivery, or what is left of it. One of an earlier program is known by
  // its version alone.
  bool is_unchanged(const PulledDelivery& now) const;
  // "VERSION" or "VERSION:KEY=PART,KEY=PART"; without tabs and line ends.
  std::string to_text() const;
  static ImportedDelivery parse(std::string_view text);
};

// True for the key of a manifest.
bool is_manifest(std::string_view key);

// `manifests` has the text of each manifest of the listing, by key. By name.
Result<std::vector<PulledDelivery>> group_objects(
    std::span<const objects::ObjectEntry> listing,
    const std::map<std::string, std::string>& manifests);

}  // namespace pennyweight
