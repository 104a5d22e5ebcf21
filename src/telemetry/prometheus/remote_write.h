// Remote write: reads the body of a POST as Prometheus, vmagent and Alloy send it, 1.0 and 2.0.
//
// https://prometheus.io/docs/specs/prw/remote_write_spec/ and …/remote_write_spec_2_0/ ; messages
// prometheus.WriteRequest (prompb/remote.proto, types.proto) and io.prometheus.write.v2.Request. A
// body is read as a whole before any of it is used, so a malformed one is refused as a whole (HTTP
// 400), and it can be checked before it is journaled. Labels are framed and hashed but stay
// encoded: mistakes inside one show when a sink decodes it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "telemetry/prometheus/label_limits.h"
#include "telemetry/prometheus/series.h"

namespace pennyweight::prometheus {

enum class WriteProtocol { kV1, kV2 };

// From the Content-Type; without a "proto" it is 1.0. kUnsupported (HTTP 415): it is not
// application/x-protobuf.
Result<WriteProtocol> parse_write_protocol(std::string_view content_type);

struct WriteLimits {
  LabelLimits labels = {};
  std::size_t series = 1'000'000;    // of one body; senders write some 2,000 to 10,000 samples
  std::size_t samples = 10'000'000;  // of one body
};

// What a body held.
struct WriteCounts {
  std::uint64_t series = 0;
  std::uint64_t samples = 0;               // handed on
  std::uint64_t samples_out_of_range = 0;  // before 1970 or after 2199: dropped
  std::uint64_t exemplars = 0;             // skipped
  std::uint64_t histograms = 0;            // native ones: skipped
  std::uint64_t metadata = 0;              // skipped
};

// How much of each of its tables a reader keeps from one body to the next.
inline constexpr std::size_t kReaderBytesKept = 4u << 20;

// Keeps its memory from one body to the next. One thread at a time.
class WriteRequestReader {
 public:
  explicit WriteRequestReader(const WriteLimits& limits = {}) : limits_(limits) {}

  // Reads and checks a decoded body (encoding.h), which must live until emit() has returned.
  // Errors: kBadFile with the byte at which it is malformed; kLimit.
  Result<WriteCounts> read(WriteProtocol protocol, std::string_view body);
  // Gives the series of the last body that was read without an Error to the sink, except those
  // without samples. The key is that of the bytes of the labels (1.0) or of the texts that they
  // refer to (2.0); one series has different keys under the two.
  void emit(SeriesSink& sink) const;

 private:
  struct Series {
    Hash128 key;
    std::string_view labels;      // 1.0: the encoded labels, perhaps with other fields between them
    std::uint32_t first_ref = 0;  // 2.0: into refs_
    std::uint32_t refs = 0;
    std::uint32_t first_sample = 0;
    std::uint32_t samples = 0;
  };
  class EncodedV1;
  class EncodedV2;

  Result<void> read_v1(std::string_view body);
  Result<void> read_v2(std::string_view body);
  Result<void> read_series_v1(std::string_view series);
  Result<void> read_series_v2(std::string_view series);
  Result<void> read_sample(const char* at, const char* end);
  Result<void> add_series(Series& series);
  void keep_sample(std::int64_t at_ms, double value);
  std::unexpected<Error> malformed(const char* at, std::string_view why) const;

  WriteLimits limits_;
  WriteProtocol protocol_ = WriteProtocol::kV1;
  std::string_view body_;
  WriteCounts counts_;
  bool too_many_samples_ = false;
  std::vector<Series> series_;
  std::vector<Sample> samples_;
  std::vector<std::string_view> symbols_;
  std::vector<Hash128> symbol_hashes_;
  std::vector<std::uint32_t> refs_;
  std::vector<std::string_view>
      messages_;  // the series of a 2.0 body, before its symbols are known
  std::string scratch_;
};

}  // namespace pennyweight::prometheus
