// Pack: the dashboard's files as web/build.mjs made them, each with its compressed forms.
//
// The format is told in web/lib/pack.mjs. What is read here lies in the program itself, but a pack
// that is cut off or has other lengths is refused and never read past its end.
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
  bool immutable = false;         // its name has a hash of it, so that it never changes
  std::vector<Variant> variants;  // the first is kIdentity
};

// By path. The views look into `pack`, which has to outlive them.
Result<std::vector<PackedFile>> read_pack(std::string_view pack);

// The smallest form that a browser with this Accept-Encoding takes.
const Variant& choose_variant(const PackedFile& file, std::string_view accept_encoding);

}  // namespace pennyweight::dashboard
