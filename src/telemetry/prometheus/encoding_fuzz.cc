// Any bytes as a body; the first byte chooses the encoding. Never past the limit, and what snappy
// packed comes back.
#include <snappy.h>

#include <cstdint>
#include <string>

#include "core/check.h"
#include "telemetry/prometheus/encoding.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  using namespace pennyweight::prometheus;
  constexpr std::size_t kMax = 1u << 16;
  constexpr const char* kEncodings[] = {"", "snappy", "gzip", "deflate", "zstd"};
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  BodyDecoder decoder;
  const auto decoded = decoder.decode(kEncodings[data[0] % 5], body, kMax);
  CHECK(!decoded || decoded->size() <= kMax, "the limit holds");
  CHECK(decoded || !decoded.error().message.empty(), "a refusal says why");
  std::string packed;
  snappy::Compress(body.data(), body.size(), &packed);
  const auto back = decoder.decode("snappy", packed, kMax);
  CHECK(body.size() > kMax ? !back : back && *back == body, "what went in comes out");
  return 0;
}
