// Reads the pack: the dashboard's files as written by web/build.mjs, with compressed variants.
//
// web/lib/pack.mjs describes the format. The pack is part of the program, yet a truncated one, or
// one with wrong lengths, is refused and never read past its end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace pennyweight::dashboard {

enum class Encoding { kIdentity, kGzip, kBrotli };

struct Variant {
  Encoding encoding = Encoding::kIdentity;
  std::string_view bytes;
};

struct PackedFile {
  std::string_view path;  // "/assets/app-LF6OOMCL.js"
  std::string_view content_type;
  std::string_view etag;          // without quotes
  bool immutable = false;         // its name has a hash of its bytes, so it never changes
  std::vector<Variant> variants;  // the first is kIdentity
};

// The files by path. Their views point into `pack`, which must outlive them.
Result<std::vector<PackedFile>> read_pack(std::string_view pack);

// The smallest variant that a browser with this Accept-Encoding accepts.
const Variant& choose_variant(const PackedFile& file, std::string_view accept_encoding);

}  // namespace pennyweight::dashboard
