// GzipWriter: compresses an answer, whole or piece by piece (RFC 1952).
#pragma once

#include <zlib.h>

#include <string>
#include <string_view>

namespace pennyweight::server {

class GzipWriter {
 public:
  GzipWriter();
  ~GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

  // Appends what became of `plain` to `packed`; some of it may come out later.
  void add(std::string_view plain, std::string& packed) { deflate_all(plain, Z_NO_FLUSH, packed); }
  // Appends all that was added, so that the reader sees it.
  void flush(std::string& packed) { deflate_all({}, Z_SYNC_FLUSH, packed); }
  void finish(std::string& packed) { deflate_all({}, Z_FINISH, packed); }

 private:
  void deflate_all(std::string_view plain, int how, std::string& packed);

  z_stream stream_{};
};

// Whether it pays to compress what has this media type.
bool is_compressible(std::string_view content_type);
// Whether Accept-Encoding admits gzip (RFC 9110, section 12.5.3).
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace pennyweight::server
