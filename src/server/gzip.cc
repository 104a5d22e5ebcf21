#include "server/gzip.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>

#include "core/ascii.h"
#include "core/check.h"

namespace pennyweight::server {
namespace {

constexpr int kGzipWindow = 15 + 16;  // 32 KiB, with the header and trailer of gzip
constexpr int kMemoryLevel = 8;
constexpr std::size_t kOutputAtOnce = 16u << 10;

}  // namespace

GzipWriter::GzipWriter() {
  if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
}

GzipWriter::~GzipWriter() { deflateEnd(&stream_); }

void GzipWriter::deflate_all(std::string_view plain, int how, std::string& packed) {
  std::array<char, kOutputAtOnce> out;
  while (true) {
    const std::size_t now = std::min<std::size_t>(plain.size(), std::numeric_limits<uInt>::max());
    // zlib does not write to its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
    stream_.avail_in = static_cast<uInt>(now);
    plain.remove_prefix(now);
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out.data());
      stream_.avail_out = static_cast<uInt>(out.size());
      const int result = deflate(&stream_, plain.empty() ? how : Z_NO_FLUSH);
      CHECK(result != Z_STREAM_ERROR, "the stream is used as zlib demands");
      packed.append(out.data(), out.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
    if (plain.empty()) return;
  }
}

bool is_compressible(std::string_view content_type) {
  const std::string_view type = ascii::trim(content_type.substr(0, content_type.find(';')));
  if (type == "text/event-stream") return false;
  static constexpr std::array<std::string_view, 6> kTypes = {
      "application/json", "application/problem+json", "application/x-ndjson",
      "application/xml",  "application/javascript",   "image/svg+xml"};
  return type.starts_with("text/") || std::ranges::find(kTypes, type) != kTypes.end();
}

bool accepts_gzip(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    const std::size_t comma = std::min(accept_encoding.find(','), accept_encoding.size());
    const std::string_view one = ascii::trim(accept_encoding.substr(0, comma));
    accept_encoding.remove_prefix(std::min(comma + 1, accept_encoding.size()));
    const std::size_t semicolon = std::min(one.find(';'), one.size());
    const std::string_view coding = ascii::trim(one.substr(0, semicolon));
    if (!ascii::equal_ignoring_case(coding, "gzip")) continue;
    // "q=0" and "q=0.000" mean: not this one.
    const std::string_view weight = ascii::trim(one.substr(semicolon), "; \t");
    if (!weight.starts_with("q=0") && !weight.starts_with("Q=0")) return true;
    return weight.substr(3).find_first_not_of(".0") != std::string_view::npos;
  }
  return false;
}

}  // namespace pennyweight::server
