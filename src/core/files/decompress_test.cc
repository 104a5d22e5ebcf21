#include "core/files/decompress.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <string>

#include "core/try.h"

namespace pennyweight {
namespace {

std::string gzipped(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd_of(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

// Reads the whole file, a few bytes at a time on either side.
Result<std::string> read_all(const std::string& raw, std::size_t raw_piece, std::size_t piece) {
  const auto decompressor = decompressor_for(std::string_view(raw).substr(0, kMagicBytes));
  if (!decompressor) return fail(ErrorCode::kBadFile, "not compressed");
  std::size_t at = 0;
  const RawRead read_raw = [&](std::span<char> buffer) -> Result<std::size_t> {
    const std::size_t count = std::min({buffer.size(), raw_piece, raw.size() - at});
    std::copy_n(raw.data() + at, count, buffer.data());
    at += count;
    return count;
  };
  std::string text;
  std::string buffer(piece, '\0');
  while (true) {
    const auto got = TRY(decompressor->read(buffer, read_raw));
    if (got == 0) return text;
    text.append(buffer, 0, got);
  }
}

std::string some_text() {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i * 7919 % 10'007) + ",row\n";
  return text;
}

TEST(Decompress, GivesWhatWasCompressed) {
  const std::string text = some_text();
  for (const std::string& raw : {gzipped(text), zstd_of(text)}) {
    for (const std::size_t raw_piece : {1u, 7u, 100'000u}) {
      for (const std::size_t piece : {1u, 4096u, 1u << 20}) {
        const auto read = read_all(raw, raw_piece, piece);
        ASSERT_TRUE(read) << read.error().message;
        EXPECT_TRUE(*read == text) << raw_piece << ' ' << piece;
      }
    }
  }
}

TEST(Decompress, SeveralInOneFileAreOne) {
  const std::string text = some_text();
  EXPECT_EQ(read_all(gzipped(text) + gzipped("more\n"), 99, 1000), text + "more\n");
  EXPECT_EQ(read_all(zstd_of(text) + zstd_of("more\n"), 99, 1000), text + "more\n");
  EXPECT_EQ(read_all(gzipped(""), 99, 1000), "");
}

TEST(Decompress, WhatIsDamagedIsAnError) {
  for (std::string raw : {gzipped(some_text()), zstd_of(some_text())}) {
    const auto cut = read_all(raw.substr(0, raw.size() / 2), 100, 1000);
    ASSERT_FALSE(cut);
    EXPECT_NE(cut.error().message.find("it ends too early"), std::string::npos);
    raw[raw.size() / 2] ^= 0x55;
    raw[raw.size() / 2 + 1] ^= 0x55;
    EXPECT_FALSE(read_all(raw + "x", 100, 1000));
  }
}

TEST(Decompress, PlainTextIsNone) {
  EXPECT_EQ(decompressor_for("PAR1"), nullptr);
  EXPECT_EQ(decompressor_for(""), nullptr);
  EXPECT_EQ(decompressor_for("a,b\n"), nullptr);
}

}  // namespace
}  // namespace pennyweight
