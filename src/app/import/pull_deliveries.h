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
  std::vector<std::string> missing;  // keys that the manifest names and the store lacks
  bool has_manifest = false;
  // A fingerprint of the parts' keys and versions: it changes when the delivery does.
  std::string version() const;
};

// True for the key of a manifest.
bool is_manifest(std::string_view key);

// `manifests` has the text of each manifest of the listing, by key. By name.
Result<std::vector<PulledDelivery>> group_objects(
    std::span<const objects::ObjectEntry> listing,
    const std::map<std::string, std::string>& manifests);

}  // namespace pennyweight
