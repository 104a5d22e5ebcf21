#include "telemetry/prometheus/encoding.h"

#include <fmt/format.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "core/ascii.h"
#include "telemetry/prometheus/header_value.h"

namespace pennyweight::prometheus {
namespace encoding_detail {

// Bytes that are not cleared before they are written.
class Buffer {
 public:
  char* data() { return bytes_.get(); }
  std::size_t size() const { return size_; }
  // Keeps the first `kept` bytes.
  void grow(std::size_t size, std::size_t kept) {
    if (size <= size_) return;
    auto bytes = std::make_unique_for_overwrite<char[]>(size);
    if (kept > 0) std::memcpy(bytes.get(), bytes_.get(), kept);
    bytes_ = std::move(bytes);
    size_ = size;
  }
  void release() {
    bytes_.reset();
    size_ = 0;
  }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
};

struct FreeZstd {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

}  // namespace encoding_detail

namespace {

using encoding_detail::Buffer;

constexpr std::size_t kFirstBytes = 1u << 18;
// A snappy copy writes at most 64 bytes for 3 of its own; the length comes first.
constexpr std::size_t kSnappyRatioMax = 22;
constexpr int kZstdWindowLogMax = 23;  // 8 MiB

std::unexpected<Error> damaged(std::string_view what, std::string_view why) {
  return fail(ErrorCode::kBadFile, fmt::format("the body's {} is damaged: {}", what, why));
}
std::unexpected<Error> too_large(std::string_view what, std::size_t bytes_max) {
  return fail(
      ErrorCode::kLimit,
      fmt::format("the body's {} holds more than {} bytes; send smaller requests, or raise the "
                  "limit",
                  what, bytes_max));
}

// Ends its zlib stream when it is destroyed.
class Inflater {
 public:
  explicit Inflater(int window_bits) {
    if (inflateInit2(&stream, window_bits) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream stream{};
};

// The next size of a buffer that is full at `used` bytes. One byte past the limit distinguishes a
// body that ends there from one that goes on.
std::size_t next_size(std::size_t used, std::size_t bytes_max) {
  const std::size_t doubled = std::max(kFirstBytes, used > bytes_max / 2 ? bytes_max : used * 2);
  return std::min(doubled, bytes_max) + 1;
}

Result<std::size_t> snap(std::string_view body, std::size_t bytes_max, Buffer& out) {
  std::size_t length = 0;
  if (!snappy::GetUncompressedLength(body.data(), body.size(), &length)) {
    return damaged("snappy", "it states no length");
  }
  if (length > bytes_max) return too_large("snappy", bytes_max);
  if (length / kSnappyRatioMax > body.size()) {
    return damaged("snappy", "it states a length that it can't hold");
  }
  out.grow(length, 0);
  if (!snappy::RawUncompress(body.data(), body.size(), out.data())) {
    return damaged("snappy", "not the block format, or cut off");
  }
  return length;
}

Result<std::size_t> inflate_all(std::string_view what, int window_bits, std::string_view body,
                                std::size_t bytes_max, Buffer& out) {
  Inflater inflater(window_bits);
  z_stream& stream = inflater.stream;
  if (body.size() > std::numeric_limits<uInt>::max()) return too_large(what, bytes_max);
  // zlib does not write to its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  std::size_t used = 0;
  while (true) {
    if (used == out.size()) out.grow(next_size(used, bytes_max), used);
    constexpr std::size_t kAtOnce = 1u << 30;
    const std::size_t room = std::min(out.size() - used, kAtOnce);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    stream.avail_out = static_cast<uInt>(room);
    const int result = inflate(&stream, Z_NO_FLUSH);
    used += room - stream.avail_out;
    if (used > bytes_max) return too_large(what, bytes_max);
    if (result == Z_STREAM_END) {
      if (stream.avail_in == 0) return used;
      // Another member may follow in gzip (RFC 1952, section 2.2).
      if (what != "gzip") return damaged(what, "something follows it");
      if (inflateReset(&stream) != Z_OK) return damaged(what, "it can't go on");
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return damaged(what, stream.msg != nullptr ? stream.msg : "no valid data");
    } else if (stream.avail_out > 0) {
      return damaged(what, "it ends too early");
    }
  }
}

Result<std::size_t> inflate_deflate(std::string_view body, std::size_t bytes_max, Buffer& out) {
  // "deflate" is the zlib format (RFC 9110, section 8.4.1.2), but some senders write raw deflate. A
  // zlib header is a multiple of 31 and names method 8.
  const bool zlib =
      body.size() >= 2 && (static_cast<unsigned char>(body[0]) & 0x0fu) == 8 &&
      (static_cast<unsigned char>(body[0]) * 256u + static_cast<unsigned char>(body[1])) % 31 == 0;
  return inflate_all("deflate", zlib ? MAX_WBITS : -MAX_WBITS, body, bytes_max, out);
}

Result<std::size_t> unzstd(ZSTD_DCtx* context, std::string_view body, std::size_t bytes_max,
                           Buffer& out) {
  if (body.empty()) return damaged("zstd", "it is empty");
  const unsigned long long stated = ZSTD_getFrameContentSize(body.data(), body.size());
  if (stated == ZSTD_CONTENTSIZE_ERROR) return damaged("zstd", "it does not begin with a frame");
  if (stated != ZSTD_CONTENTSIZE_UNKNOWN) {
    if (stated > bytes_max) return too_large("zstd", bytes_max);
    out.grow(static_cast<std::size_t>(stated) + 1, 0);
  }
  ZSTD_DCtx_reset(context, ZSTD_reset_session_only);
  ZSTD_inBuffer in{body.data(), body.size(), 0};
  ZSTD_outBuffer to{out.data(), std::min(out.size(), bytes_max + 1), 0};
  while (true) {
    if (to.pos == to.size) {
      out.grow(next_size(to.pos, bytes_max), to.pos);
      to.dst = out.data();
      to.size = std::min(out.size(), bytes_max + 1);
    }
    const std::size_t result = ZSTD_decompressStream(context, &to, &in);
    if (ZSTD_isError(result) != 0) return damaged("zstd", ZSTD_getErrorName(result));
    if (to.pos > bytes_max) return too_large("zstd", bytes_max);
    const bool flushed = to.pos < to.size;
    if (in.pos == in.size && flushed) {
      if (result != 0) return damaged("zstd", "it ends too early");
      return to.pos;
    }
  }
}

}  // namespace

struct BodyDecoder::State {
  Buffer buffer;
  std::unique_ptr<ZSTD_DCtx, encoding_detail::FreeZstd> zstd;
};

BodyDecoder::BodyDecoder() : state_(std::make_unique<State>()) {}
BodyDecoder::~BodyDecoder() = default;
BodyDecoder::BodyDecoder(BodyDecoder&&) noexcept = default;
BodyDecoder& BodyDecoder::operator=(BodyDecoder&&) noexcept = default;

Result<std::string_view> BodyDecoder::decode(std::string_view encoding, std::string_view body,
                                             std::size_t bytes_max) {
  Buffer& buffer = state_->buffer;
  if (buffer.size() > kDecodedBytesKept) buffer.release();
  const std::string coding = ascii::lower_case(ascii::trim(encoding));
  Result<std::size_t> size = std::size_t{0};
  if (coding.empty() || coding == "identity") {
    if (body.size() > bytes_max) return too_large("identity", bytes_max);
    return body;
  }
  if (coding == "snappy") {
    size = snap(body, bytes_max, buffer);
  } else if (coding == "gzip" || coding == "x-gzip") {
    size = inflate_all("gzip", MAX_WBITS + 16, body, bytes_max, buffer);  // 16: a gzip header
  } else if (coding == "deflate") {
    size = inflate_deflate(body, bytes_max, buffer);
  } else if (coding == "zstd") {
    if (!state_->zstd) {
      state_->zstd.reset(ZSTD_createDCtx());
      if (!state_->zstd) throw std::bad_alloc();
      ZSTD_DCtx_setParameter(state_->zstd.get(), ZSTD_d_windowLogMax, kZstdWindowLogMax);
    }
    size = unzstd(state_->zstd.get(), body, bytes_max, buffer);
  } else {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format(
            "Content-Encoding \"{}\" is not supported; send snappy, zstd, gzip, deflate or none",
            printable(encoding)));
  }
  if (!size) return std::unexpected(size.error());
  return std::string_view(buffer.data(), *size);
}

}  // namespace pennyweight::prometheus
