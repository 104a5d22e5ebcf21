// The variants of an accepted pack lie one after another, up to its end.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/check.h"
#include "server/dashboard/pack.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight::dashboard;
  const std::string_view pack(reinterpret_cast<const char*>(data), size);
  const auto files = read_pack(pack);
  if (!files) return 0;
  const char* at = nullptr;
  for (const PackedFile& file : *files) {
    CHECK(!file.variants.empty(), "every file has its uncompressed form");
    for (const Variant& variant : file.variants) {
      CHECK(at == nullptr || variant.bytes.data() == at, "variants are contiguous");
      at = variant.bytes.data() + variant.bytes.size();
    }
    const Variant& chosen = choose_variant(file, "gzip, br");
    CHECK(chosen.bytes.size() <= file.variants.front().bytes.size(),
          "the smallest variant is chosen");
    // The header is untrusted text as well.
    CHECK(!choose_variant(file, pack).bytes.empty() || chosen.bytes.empty() ||
              file.variants.size() > 1,
          "a variant is always found");
  }
  CHECK(at == nullptr || at == pack.data() + pack.size(), "nothing is left over");
  return 0;
}
