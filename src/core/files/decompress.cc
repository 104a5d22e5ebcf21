#include "core/files/decompress.h"

#include <zlib.h>
#include <zstd.h>

#include <new>
#include <string>
#include <vector>

namespace pennyweight {
namespace {

constexpr std::size_t kRawBytes = 1u << 17;

std::unexpected<Error> damaged(std::string_view what, std::string_view why) {
  return fail(ErrorCode::kBadFile, "its " + std::string(what) + " is damaged (" + std::string(why) +
                                       "); fetch it again");
}

class Gunzip : public Decompressor {
 public:
  Gunzip() {
    // 16: a gzip header is expected.
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) throw std::bad_alloc();
  }
  ~Gunzip() override { inflateEnd(&stream_); }

  Result<std::size_t> read(std::span<char> buffer, const RawRead& raw) override {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream_.avail_out = static_cast<uInt>(buffer.size());
    while (stream_.avail_out > 0) {
      if (stream_.avail_in == 0) {
        const auto got = raw(raw_);
        if (!got) return got;
        if (*got == 0) {
          if (inside_) return damaged("gzip", "it ends too early");
          break;
        }
        stream_.next_in = reinterpret_cast<Bytef*>(raw_.data());
        stream_.avail_in = static_cast<uInt>(*got);
      }
      inside_ = true;
      const int result = inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {
        // Another member may follow: gzip files can be concatenated.
        inside_ = false;
        if (inflateReset(&stream_) != Z_OK) return damaged("gzip", "it can't go on");
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        return damaged("gzip", stream_.msg != nullptr ? stream_.msg : "no valid data");
      }
    }
    return buffer.size() - stream_.avail_out;
  }

 private:
  z_stream stream_{};
  std::vector<char> raw_ = std::vector<char>(kRawBytes);
  bool inside_ = false;  // a member has begun and not ended
};

class Unzstd : public Decompressor {
 public:
  Unzstd() : stream_(ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
  }

  Result<std::size_t> read(std::span<char> buffer, const RawRead& raw) override {
    ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
    while (out.pos < out.size) {
      if (in_.pos == in_.size && !has_more_) {
        const auto got = raw(raw_);
        if (!got) return got;
        if (*got == 0) {
          if (inside_) return damaged("zstd", "it ends too early");
          break;
        }
        in_ = {raw_.data(), *got, 0};
      }
      const std::size_t result = ZSTD_decompressStream(stream_.get(), &out, &in_);
      if (ZSTD_isError(result) != 0) return damaged("zstd", ZSTD_getErrorName(result));
      inside_ = result != 0;  // 0: a frame ended, and another may follow
      // What did not fit into the buffer is handed out before more is read.
      has_more_ = inside_ && out.pos == out.size;
    }
    return out.pos;
  }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  std::vector<char> raw_ = std::vector<char>(kRawBytes);
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool inside_ = false;
  bool has_more_ = false;
};

}  // namespace

std::unique_ptr<Decompressor> decompressor_for(std::string_view first) {
  if (first.starts_with("\x1F\x8B")) return std::make_unique<Gunzip>();
  if (first.starts_with("\x28\xB5\x2F\xFD")) return std::make_unique<Unzstd>();
  return nullptr;
}

}  // namespace pennyweight
