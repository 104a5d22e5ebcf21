#include "telemetry/prometheus/encoding.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <string>

namespace pennyweight::prometheus {
namespace {

constexpr std::size_t kMax = 1u << 20;

std::string snapped(std::string_view text) {
  std::string packed;
  snappy::Compress(text.data(), text.size(), &packed);
  return packed;
}

// Window bits as zlib has them: 15 zlib, 31 gzip, -15 raw.
std::string deflated(std::string_view text, int window_bits) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string zstd_of(std::string_view text, bool states_size = true, int window_log = 0) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, states_size ? 1 : 0);
  if (window_log > 0) ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  std::string packed(ZSTD_compressBound(text.size()) + 64, '\0');
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  // Twice, so that the size is not known when the frame begins.
  if (!states_size) ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush);
  EXPECT_EQ(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0u);
  ZSTD_freeCCtx(context);
  packed.resize(out.pos);
  return packed;
}

std::string packed_as(std::string_view encoding, std::string_view text) {
  if (encoding == "snappy") return snapped(text);
  if (encoding == "gzip") return deflated(text, 31);
  if (encoding == "deflate") return deflated(text, 15);
  if (encoding == "zstd") return zstd_of(text);
  return std::string(text);
}

const char* const kEncodings[] = {"", "snappy", "gzip", "deflate", "zstd"};

RC_GTEST_PROP(Encoding, EveryEncodingGivesBackWhatWentIn, (const std::string& text)) {
  BodyDecoder decoder;
  for (const char* const encoding : kEncodings) {
    std::string repeated;
    for (int i = 0; i < 50; ++i) repeated += text;
    const std::string packed = packed_as(encoding, repeated);
    const auto decoded = decoder.decode(encoding, packed, kMax);
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(*decoded == repeated);
  }
}

TEST(Encoding, OtherFormsOfTheSame) {
  const std::string text(100'000, 'a');
  BodyDecoder decoder;
  EXPECT_EQ(decoder.decode("identity", text, kMax).value(), text);
  EXPECT_EQ(decoder.decode(" GZip ", deflated(text, 31), kMax).value(), text);
  EXPECT_EQ(decoder.decode("x-gzip", deflated(text, 31), kMax).value(), text);
  EXPECT_EQ(decoder.decode("deflate", deflated(text, -15), kMax).value(), text);
  EXPECT_EQ(decoder.decode("zstd", zstd_of(text, false), kMax).value(), text);
  // Several members, several frames.
  EXPECT_EQ(decoder.decode("gzip", deflated(text, 31) + deflated("b", 31), kMax).value(),
            text + "b");
  EXPECT_EQ(decoder.decode("zstd", zstd_of("b", false) + zstd_of(text), kMax).value(), "b" + text);
  EXPECT_EQ(decoder.decode("zstd", zstd_of("b") + zstd_of(text), kMax).value(), "b" + text);
}

TEST(Encoding, TheLimitIsExact) {
  const std::string text(300'000, 'x');
  BodyDecoder decoder;
  for (const char* const encoding : kEncodings) {
    const std::string packed = packed_as(encoding, text);
    EXPECT_EQ(decoder.decode(encoding, packed, text.size()).value(), text) << encoding;
    const auto refused = decoder.decode(encoding, packed, text.size() - 1);
    ASSERT_FALSE(refused) << encoding;
    EXPECT_EQ(refused.error().code, ErrorCode::kLimit) << encoding;
    EXPECT_NE(refused.error().message.find("299999"), std::string::npos) << refused.error().message;
  }
  const auto streamed = decoder.decode("zstd", zstd_of(text, false), text.size() - 1);
  ASSERT_FALSE(streamed);
  EXPECT_EQ(streamed.error().code, ErrorCode::kLimit);
}

TEST(Encoding, BombsAreRefused) {
  BodyDecoder decoder;
  const std::string zeros(256u << 20, '\0');
  EXPECT_EQ(decoder.decode("gzip", deflated(zeros, 31), kMax).error().code, ErrorCode::kLimit);
  EXPECT_EQ(decoder.decode("zstd", zstd_of(zeros, false), kMax).error().code, ErrorCode::kLimit);
  EXPECT_EQ(decoder.decode("zstd", zstd_of(zeros), kMax).error().code, ErrorCode::kLimit);
  // Snappy that states 4 GiB in 5 bytes, and one that states a mere 512 KiB.
  EXPECT_EQ(decoder.decode("snappy", "\xff\xff\xff\xff\x0f", kMax).error().code, ErrorCode::kLimit);
  const auto lying = decoder.decode("snappy", std::string("\x80\x80\x20\x00", 4), kMax);
  ASSERT_FALSE(lying);
  EXPECT_EQ(lying.error().code, ErrorCode::kBadFile);
  // A window of 64 MiB is more than HTTP's zstd may ask for.
  const auto wide = decoder.decode("zstd", zstd_of(zeros, false, 26), 1u << 30);
  ASSERT_FALSE(wide);
  EXPECT_EQ(wide.error().code, ErrorCode::kBadFile);
}

TEST(Encoding, WhatIsDamagedNamesTheEncoding) {
  BodyDecoder decoder;
  const std::string text = "DCGM_FI_DEV_GPU_UTIL 1\nDCGM_FI_DEV_GPU_TEMP 40\n";
  for (const char* const encoding : {"snappy", "gzip", "deflate", "zstd"}) {
    const std::string packed = packed_as(encoding, text);
    for (const std::string& bytes : {std::string(), packed.substr(0, packed.size() - 1),
                                     packed.substr(0, packed.size() / 2), text}) {
      const auto refused = decoder.decode(encoding, bytes, kMax);
      ASSERT_FALSE(refused) << encoding << " of " << bytes.size();
      EXPECT_EQ(refused.error().code, ErrorCode::kBadFile) << encoding;
      EXPECT_NE(refused.error().message.find(encoding), std::string::npos);
    }
    EXPECT_EQ(decoder.decode(encoding, packed, kMax).value(), text) << "and the next one is read";
  }
  for (const char* const encoding : {"br", "gzip, snappy", "snappy-framed"}) {
    EXPECT_EQ(decoder.decode(encoding, text, kMax).error().code, ErrorCode::kUnsupported);
  }
}

}  // namespace
}  // namespace pennyweight::prometheus
