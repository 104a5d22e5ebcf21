#include "telemetry/prometheus/remote_write.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>

#include "core/instant.h"
#include "telemetry/prometheus/collecting_sink.h"
#include "telemetry/prometheus/encoded_label.h"
#include "telemetry/prometheus/encoding.h"
#include "telemetry/prometheus/write_request.h"

namespace pennyweight::prometheus {
namespace {

constexpr std::int64_t kWrittenAt = 1'772'323'200'000;

std::string encoded_varint(std::uint64_t value) {
  std::string out;
  put_varint(out, value);
  return out;
}
// A field of bytes; number below 16.
std::string encoded_field(int number, const std::string& bytes) {
  return static_cast<char>(number * 8 + 2) + encoded_varint(bytes.size()) + bytes;
}
std::string encoded_number(int number, std::uint64_t value) {
  return static_cast<char>(number * 8) + encoded_varint(value);
}
std::string encoded_double(int number, double value) {
  std::string out(1, static_cast<char>(number * 8 + 1));
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (unsigned shift = 0; shift < 64; shift += 8) {
    out += static_cast<char>((bits >> shift) & 0xff);
  }
  return out;
}
std::string sample(double value, std::int64_t at_ms) {
  return encoded_double(1, value) + encoded_number(2, static_cast<std::uint64_t>(at_ms));
}
std::string encoded_label(const std::string& name, const std::string& value) {
  std::string out;
  put_label_field(out, name, value);
  return out;
}

struct WriteOutcome {
  Result<WriteCounts> counts;
  CollectingSink sink;
};
WriteOutcome read(WriteProtocol protocol, const std::string& body, const WriteLimits& limits = {}) {
  WriteRequestReader reader(limits);
  WriteOutcome outcome{.counts = reader.read(protocol, body), .sink = {}};
  reader.emit(outcome.sink);
  return outcome;
}
WriteOutcome read_v1(const std::string& body, const WriteLimits& limits = {}) {
  return read(WriteProtocol::kV1, body, limits);
}

TEST(RemoteWrite, WhatIsBuiltIsRead) {
  const std::vector<Label> labels = {{"__name__", "DCGM_FI_DEV_GPU_UTIL"}, {"gpu", "0"}};
  const std::vector<Sample> samples = {
      {kWrittenAt, 97.5}, {kWrittenAt + 30'000, 0}, {kWrittenAt + 60'000, -0.0}};
  WriteRequestBuilder builder;
  builder.add(labels, samples);
  builder.add({}, {});
  BodyDecoder decoder;
  const std::string packed = builder.snappy();
  const std::string body(decoder.decode("snappy", packed, 1u << 20).value());
  ASSERT_EQ(body, builder.body());
  const WriteOutcome outcome = read_v1(body);
  ASSERT_TRUE(outcome.counts) << outcome.counts.error().message;
  EXPECT_EQ(outcome.counts->series, 2u);
  EXPECT_EQ(outcome.counts->samples, 3u);
  ASSERT_EQ(outcome.sink.all.size(), 1u) << "a series without samples is not handed on";
  EXPECT_EQ(outcome.sink.all[0].labels, labels);
  ASSERT_EQ(outcome.sink.all[0].samples.size(), 3u);
  EXPECT_EQ(outcome.sink.all[0].samples[0].value, 97.5);
  EXPECT_EQ(outcome.sink.all[0].samples[1].at_ms, kWrittenAt + 30'000);
  EXPECT_TRUE(std::signbit(outcome.sink.all[0].samples[2].value));
}

// Any bits are a value, including the stale marker; any time within range comes back.
RC_GTEST_PROP(RemoteWrite, ValuesAndTimesComeBackBitByBit, (std::uint64_t bits)) {
  const auto at = *rc::gen::inRange<std::int64_t>(0, unix_ms(kInstantMax) + 1);
  const std::vector<Sample> samples = {{at, std::bit_cast<double>(bits)},
                                       {0, std::bit_cast<double>(kStaleNan)}};
  WriteRequestBuilder builder;
  const std::vector<Label> labels = {{"__name__", "m"}};
  builder.add(labels, samples);
  const WriteOutcome outcome = read_v1(builder.body());
  RC_ASSERT(outcome.sink.all.size() == 1u);
  const auto& got = outcome.sink.all[0].samples;
  RC_ASSERT(got[0].at_ms == at);
  RC_ASSERT(std::bit_cast<std::uint64_t>(got[0].value) == bits);
  RC_ASSERT(std::bit_cast<std::uint64_t>(got[1].value) == kStaleNan);
}

// Two lists of labels have one key exactly when they are the same list.
RC_GTEST_PROP(RemoteWrite, KeysTellSeriesApart,
              (const std::vector<std::pair<std::string, std::string>>& first,
               const std::vector<std::pair<std::string, std::string>>& second)) {
  WriteRequestBuilder builder;
  const Sample one = {kWrittenAt, 1};
  for (const auto* const pairs : {&first, &second, &first}) {
    std::vector<Label> labels;
    for (const auto& [name, value] : *pairs) labels.push_back({name, value});
    builder.add(labels, std::span(&one, 1));
  }
  struct Keys final : SeriesSink {
    std::vector<Hash128> keys;
    void series(const Hash128& key, const EncodedLabels&, std::span<const Sample>) override {
      keys.push_back(key);
    }
  } sink;
  WriteRequestReader reader;
  RC_ASSERT(reader.read(WriteProtocol::kV1, builder.body()).has_value());
  reader.emit(sink);
  RC_ASSERT(sink.keys.size() == 3u);
  RC_ASSERT(sink.keys[0] == sink.keys[2]);
  RC_ASSERT((sink.keys[0] == sink.keys[1]) == (first == second));
}

TEST(RemoteWrite, LabelsInPiecesHaveTheSameKey) {
  const std::string name = encoded_label("__name__", "m");
  const std::string gpu = encoded_label("gpu", "0");
  const std::string one = encoded_field(2, sample(1, kWrittenAt));
  const WriteOutcome outcome =
      read_v1(encoded_field(1, name + gpu + one) + encoded_field(1, name + one + gpu) +
              encoded_field(1, one + name + gpu));
  ASSERT_TRUE(outcome.counts) << outcome.counts.error().message;
  ASSERT_EQ(outcome.sink.all.size(), 3u);
  for (const CollectedSeries& series : outcome.sink.all) {
    EXPECT_EQ(series.text(), "m{gpu=\"0\"}");
    EXPECT_EQ(series.key, outcome.sink.all[0].key);
    EXPECT_EQ(series.samples.size(), 1u);
  }
}

TEST(RemoteWrite, WhatIsNotNeededIsSkippedAndCounted) {
  const std::string long_value(200, 'v');  // a label of more than 127 bytes
  const std::string series = encoded_label("__name__", "m") + encoded_label("l", long_value) +
                             encoded_field(2, sample(1, kWrittenAt)) +
                             encoded_field(3, "exemplar") + encoded_field(4, "histogram") +
                             encoded_field(9, "unknown") + encoded_number(10, 7) +
                             encoded_field(2, sample(2, kWrittenAt + 1));
  const WriteOutcome outcome = read_v1(encoded_field(1, series) + encoded_field(3, "metadata") +
                                       encoded_number(2, 1) + encoded_double(9, 1));
  ASSERT_TRUE(outcome.counts) << outcome.counts.error().message;
  EXPECT_EQ(outcome.counts->exemplars, 1u);
  EXPECT_EQ(outcome.counts->histograms, 1u);
  EXPECT_EQ(outcome.counts->metadata, 1u);
  EXPECT_EQ(outcome.counts->samples, 2u);
  ASSERT_EQ(outcome.sink.all.size(), 1u);
  EXPECT_EQ(outcome.sink.all[0].text(), "m{l=\"" + long_value + "\"}");
}

TEST(RemoteWrite, TimesOutOfRangeAreDropped) {
  const std::string body =
      encoded_field(1, encoded_label("__name__", "m") + encoded_field(2, sample(1, -1)) +
                           encoded_field(2, sample(2, unix_ms(kInstantMax) + 1)) +
                           encoded_field(2, sample(3, unix_ms(kInstantMax))) +
                           encoded_field(2, encoded_double(1, 4)) +
                           encoded_field(2, encoded_number(2, kWrittenAt) + encoded_double(1, 5)));
  const WriteOutcome outcome = read_v1(body);
  ASSERT_TRUE(outcome.counts);
  EXPECT_EQ(outcome.counts->samples_out_of_range, 2u);
  ASSERT_EQ(outcome.sink.all.size(), 1u);
  const auto& got = outcome.sink.all[0].samples;
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].value, 3);
  EXPECT_EQ(got[1].at_ms, 0);
  EXPECT_EQ(got[2].at_ms, kWrittenAt);
  EXPECT_EQ(got[2].value, 5);
}

TEST(RemoteWrite, BadLabelsDropTheSeriesAlone) {
  const std::string one = encoded_field(2, sample(1, kWrittenAt));
  const std::string good = encoded_field(1, encoded_label("__name__", "m") + one);
  const std::vector<std::string> bad = {
      encoded_label("a", "1") + encoded_label("a", "2"),  // twice
      encoded_label("", "1"),                             // no name
      encoded_label("a", "\xff"),                         // no UTF-8
      encoded_label(std::string(1025, 'n'), "1"),         // too long
      encoded_label("a", std::string(4097, 'v')),         //
      encoded_field(1, encoded_number(1, 3)),             // no text
      encoded_field(1, "\x0a\x7f"),                       // cut off
  };
  for (const std::string& labels : bad) {
    const WriteOutcome outcome = read_v1(encoded_field(1, labels + one) + good);
    ASSERT_TRUE(outcome.counts);
    EXPECT_EQ(outcome.sink.refused, 1u);
    EXPECT_EQ(outcome.sink.all.size(), 1u);
  }
  std::string many;
  for (int i = 0; i < 64; ++i) many += encoded_label("l" + std::to_string(i), "1");
  EXPECT_EQ(read_v1(encoded_field(1, many + one)).sink.all.size(), 1u);
  EXPECT_EQ(read_v1(encoded_field(1, many + encoded_label("x", "1") + one)).sink.refused, 1u);
  // Empty is the same as absent; the order does not matter once labels are decoded.
  EXPECT_EQ(read_v1(encoded_field(1, encoded_label("b", "1") + encoded_label("pod", "") +
                                         encoded_label("a", "2") + one))
                .sink.all[0]
                .text(),
            "{a=\"2\",b=\"1\"}");
}

TEST(RemoteWrite, AMalformedBodyIsRefusedAsAWhole) {
  const std::string good =
      encoded_field(1, encoded_label("__name__", "m") + encoded_field(2, sample(1, kWrittenAt)) +
                           encoded_field(2, sample(0, kWrittenAt)));
  const std::vector<std::pair<std::string, const char*>> bad = {
      {good.substr(0, good.size() - 1), "byte 0 of"},
      {good + "\x0a", "length is cut off"},
      {good + "\x0a\x7f", "length passes the end"},
      {good + encoded_field(1, encoded_field(2, "\x09")), "8 bytes is cut off"},
      {good + encoded_field(1, encoded_field(2, "\x10\xff")), "cut off"},
      {good + encoded_field(1, encoded_field(2, encoded_number(1, 3))), "another wire type"},
      {good + encoded_field(1, encoded_number(1, 3)), "another wire type"},
      {good + encoded_number(1, 3), "another wire type"},
      {good + encoded_field(1, "\x0b"), "wire type that is not read"},
      {good + std::string(1, '\0'), "no valid number"},
      {good + "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "more than 64 bits"},
      {good + encoded_field(5, "a series of 2.0"), "2.0 request"},
  };
  for (const auto& [body, why] : bad) {
    const WriteOutcome outcome = read_v1(body);
    ASSERT_FALSE(outcome.counts) << why;
    EXPECT_EQ(outcome.counts.error().code, ErrorCode::kBadFile);
    EXPECT_NE(outcome.counts.error().message.find(why), std::string::npos)
        << outcome.counts.error().message << " / " << why;
    EXPECT_NE(outcome.counts.error().message.find("at byte"), std::string::npos);
    EXPECT_TRUE(outcome.sink.all.empty()) << "nothing of it is handed on";
  }
}

TEST(RemoteWrite, Limits) {
  std::string body;
  for (int i = 0; i < 3; ++i)
    body += encoded_field(1, encoded_field(2, sample(1, kWrittenAt)) + encoded_field(2, "") + "");
  EXPECT_EQ(read_v1(body, {.series = 3}).counts->samples, 6u);
  EXPECT_EQ(read_v1(body, {.series = 2}).counts.error().code, ErrorCode::kLimit);
  EXPECT_EQ(read_v1(body, {.samples = 5}).counts.error().code, ErrorCode::kLimit);
  EXPECT_TRUE(read_v1("").counts);
}

std::string refs(std::initializer_list<std::uint64_t> all) {
  std::string packed;
  for (const std::uint64_t ref : all) packed += encoded_varint(ref);
  return encoded_field(1, packed);
}

TEST(RemoteWrite, SymbolsAreResolved) {
  std::string symbols;
  for (const char* const symbol : {"", "__name__", "m", "gpu", "0", "1"}) {
    symbols += encoded_field(4, symbol);
  }
  const std::string one =
      encoded_field(2, sample(1, kWrittenAt) + encoded_number(3, kWrittenAt - 5));
  const std::string series =
      encoded_field(5, refs({1, 2, 3, 4}) + one + encoded_field(3, "h") + encoded_field(4, "e") +
                           encoded_field(5, "m") + encoded_number(6, kWrittenAt)) +
      encoded_field(5, refs({1, 2, 3, 5}) + one) +
      encoded_field(5, refs({3, 4}) + refs({1, 2}) + one) +
      // Not packed, which is the same.
      encoded_field(5, encoded_number(1, 1) + encoded_number(1, 2) + encoded_number(1, 3) +
                           encoded_number(1, 4) + one);
  // Symbols may come after the series that need them.
  for (const std::string& body : {symbols + series, series + symbols}) {
    const WriteOutcome outcome = read(WriteProtocol::kV2, body);
    ASSERT_TRUE(outcome.counts) << outcome.counts.error().message;
    EXPECT_EQ(outcome.counts->histograms, 1u);
    EXPECT_EQ(outcome.counts->exemplars, 1u);
    EXPECT_EQ(outcome.counts->metadata, 1u);
    ASSERT_EQ(outcome.sink.all.size(), 4u);
    const auto& all = outcome.sink.all;
    EXPECT_EQ(all[0].text(), "m{gpu=\"0\"}");
    EXPECT_EQ(all[1].text(), "m{gpu=\"1\"}");
    EXPECT_EQ(all[2].text(), "m{gpu=\"0\"}");
    EXPECT_EQ(all[0].key, all[3].key);
    EXPECT_NE(all[0].key, all[1].key);
    EXPECT_EQ(all[0].samples[0].at_ms, kWrittenAt);
  }
}

TEST(RemoteWrite, TheSameTextsHaveOneKeyWhateverTheirNumbers) {
  const std::string one = encoded_field(2, sample(1, kWrittenAt));
  const std::string first = encoded_field(4, "") + encoded_field(4, "a") + encoded_field(4, "b");
  const std::string second = encoded_field(4, "") + encoded_field(4, "b") + encoded_field(4, "a");
  const WriteOutcome there = read(WriteProtocol::kV2, first + encoded_field(5, refs({1, 2}) + one));
  const WriteOutcome here = read(WriteProtocol::kV2, second + encoded_field(5, refs({2, 1}) + one));
  const WriteOutcome other =
      read(WriteProtocol::kV2, second + encoded_field(5, refs({1, 2}) + one));
  EXPECT_EQ(there.sink.all[0].key, here.sink.all[0].key);
  EXPECT_NE(there.sink.all[0].key, other.sink.all[0].key);
}

TEST(RemoteWrite, LimitsOfSymbols) {
  const std::string one = encoded_field(2, sample(1, kWrittenAt));
  std::string symbols = encoded_field(4, "");
  std::string packed;
  for (int i = 1; i <= 65; ++i) {
    symbols += encoded_field(4, "l" + std::to_string(i));
    packed += encoded_varint(static_cast<std::uint64_t>(i)) + encoded_varint(1);
  }
  const std::string fits = encoded_field(1, packed.substr(0, 128));
  const WriteOutcome outcome =
      read(WriteProtocol::kV2, symbols + encoded_field(5, fits + one) +
                                   encoded_field(5, encoded_field(1, packed) + one) +
                                   encoded_field(5, encoded_field(1, packed + packed) + one));
  ASSERT_TRUE(outcome.counts) << outcome.counts.error().message;
  EXPECT_EQ(outcome.sink.all.size(), 1u);
  EXPECT_EQ(outcome.sink.refused, 2u);
  EXPECT_EQ(read(WriteProtocol::kV2, symbols, {.series = 16}).counts.error().code,
            ErrorCode::kLimit);
  EXPECT_TRUE(read(WriteProtocol::kV2, symbols, {.series = 17}).counts);
}

TEST(RemoteWrite, MalformedSymbols) {
  const std::string one = encoded_field(2, sample(1, kWrittenAt));
  const std::string symbols = encoded_field(4, "") + encoded_field(4, "a");
  const std::vector<std::pair<std::string, const char*>> bad = {
      {symbols + encoded_field(5, refs({0, 2}) + one), "symbol that is not there"},
      {symbols + encoded_field(5, encoded_number(1, 9) + one), "symbol that is not there"},
      {symbols + encoded_field(5, refs({0, 1, 1}) + one), "no value"},
      {encoded_field(4, "a") + encoded_field(5, one), "first symbol"},
      {encoded_field(5, one), "first symbol"},
      {symbols + encoded_field(5, encoded_field(1, "\xff")), "cut off"},
      {symbols + encoded_field(1, one), "1.0 request"},
      {symbols + encoded_number(4, 1), "another wire type"},
      {symbols + encoded_field(5, encoded_number(2, 1)), "another wire type"},
      {symbols + "\x22\x05", "passes the end"},
  };
  for (const auto& [body, why] : bad) {
    const WriteOutcome outcome = read(WriteProtocol::kV2, body);
    ASSERT_FALSE(outcome.counts) << why;
    EXPECT_NE(outcome.counts.error().message.find(why), std::string::npos)
        << outcome.counts.error().message;
    EXPECT_TRUE(outcome.sink.all.empty());
  }
}

TEST(RemoteWrite, TheContentTypeSaysWhich) {
  EXPECT_EQ(parse_write_protocol(""), WriteProtocol::kV1);
  EXPECT_EQ(parse_write_protocol("application/x-protobuf"), WriteProtocol::kV1);
  EXPECT_EQ(parse_write_protocol("Application/X-Protobuf; proto=prometheus.WriteRequest"),
            WriteProtocol::kV1);
  EXPECT_EQ(parse_write_protocol("application/x-protobuf;proto=io.prometheus.write.v2.Request"),
            WriteProtocol::kV2);
  EXPECT_EQ(
      parse_write_protocol("application/x-protobuf; proto=\"io.prometheus.write.v2.Request\""),
      WriteProtocol::kV2);
  for (const char* const other :
       {"application/json", "text/plain", "application/x-protobuf;proto=io.example.v3"}) {
    EXPECT_EQ(parse_write_protocol(other).error().code, ErrorCode::kUnsupported) << other;
  }
}

}  // namespace
}  // namespace pennyweight::prometheus
