#include "core/clickhouse/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "core/check.h"

namespace pennyweight::clickhouse {

std::string gzipped(std::string_view bytes) {
  constexpr int kGzip = 16;  // added to the window's bits: a gzip header instead of zlib's
  constexpr int kMemory = 8;
  z_stream stream{};
  CHECK(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzip, kMemory,
                     Z_DEFAULT_STRATEGY) == Z_OK,
        "memory for zlib");
  std::string out;
  int done = Z_OK;
  while (done != Z_STREAM_END) {
    if (stream.avail_in == 0) {
      const std::size_t count =
          std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
      // zlib does not write there; its interface is older than const.
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream.avail_in = static_cast<uInt>(count);
      bytes.remove_prefix(count);
    }
    constexpr std::size_t kRoomMin = 64u << 10;
    const std::size_t room = std::max<std::size_t>(kRoomMin, stream.avail_in / 2);
    const std::size_t size = out.size();
    out.resize(size + room);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + size);
    stream.avail_out = static_cast<uInt>(room);
    done = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
    CHECK(done == Z_OK || done == Z_STREAM_END, "there is room for what zlib writes");
  }
  deflateEnd(&stream);
  return out;
}

}  // namespace pennyweight::clickhouse
