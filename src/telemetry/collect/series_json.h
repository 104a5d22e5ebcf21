// Raw samples as Prometheus and VictoriaMetrics answer them in JSON, collected into a SeriesBuffer.
//
//   matrix  {"status":"success","data":{"resultType":"matrix","result":[
//             {"metric":{"__name__":"up"},"values":[[1435781430.781,"1"], …]}, …]}}
//           /api/v1/query of a range selector. Seconds with three decimals; values are strings,
//           also "NaN" and "+Inf". Stale markers and native histograms are left out, by the server
//           and here.
//           https://prometheus.io/docs/prometheus/latest/querying/api/#range-vectors
//   lines   {"metric":{"__name__":"up"},"values":[1,null,"Infinity"],"timestamps":[1435781430781]}
//           /api/v1/export of VictoriaMetrics: one object a line; a series may take several. Times
//           in milliseconds. Every NaN is null there: stale markers, and unknown values, which
//           exporters hardly ever send. So null counts as a stale marker.
//           https://docs.victoriametrics.com/#how-to-export-data-in-json-line-format
//
// Only samples of [from, to) are kept: which end of a range is open depends on the version of the
// server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/try.h"
#include "telemetry/prometheus/series.h"

namespace pennyweight::collect {

inline constexpr std::size_t kSeriesMax = 2'000'000;         // of one piece
inline constexpr std::size_t kPieceSamplesMax = 16'000'000;  // of one piece; 256 MiB
inline constexpr std::size_t kExportLineBytesMax = 64u << 20;
inline constexpr std::size_t kSeriesLabelsMax = 256;
inline constexpr std::size_t kSeriesLabelBytesMax = 64u << 10;  // of one series, all its labels

struct RawSeries {
  std::vector<prometheus::Label> labels;  // sorted by name, each name once
  std::vector<prometheus::Sample> samples;
};

// The series of a piece, from any number of answers.
class SeriesBuffer {
 public:
  struct Limits {
    std::size_t series = kSeriesMax;
    std::size_t samples = kPieceSamplesMax;
  };
  // Keeps samples of [from_ms, to_ms).
  SeriesBuffer(std::int64_t from_ms, std::int64_t to_ms) : SeriesBuffer(from_ms, to_ms, Limits()) {}
  SeriesBuffer(std::int64_t from_ms, std::int64_t to_ms, const Limits& limits)
      : from_ms_(from_ms), to_ms_(to_ms), limits_(limits) {}

  // A complete answer of /api/v1/query. kBadFile: it is malformed; kLimit: the piece is too large.
  Result<void> add_matrix(std::string_view json);
  // A line of /api/v1/export; the same errors.
  Result<void> add_line(std::string_view json);
  // Sorts the samples of each series by time and keeps one of each millisecond.
  void sort();

  const std::vector<RawSeries>& series() const { return series_; }
  std::size_t samples() const { return samples_; }

 private:
  Result<RawSeries*> find_or_add_series(std::vector<prometheus::Label> labels);
  Result<void> keep(RawSeries& series, std::int64_t at_ms, double value);

  std::int64_t from_ms_;
  std::int64_t to_ms_;
  Limits limits_;
  std::vector<RawSeries> series_;
  std::map<std::string, std::size_t> places_;  // by the labels as one text
  std::size_t samples_ = 0;
};

// The strings of an answer {"status":"success","data":["a", …]}. kBadFile: it is malformed.
Result<std::vector<std::string>> read_names(std::string_view json);

// Splits a stream into lines.
class LineSplitter {
 public:
  // Gives each complete line to the sink; kLimit for one that is too long. An Error of the sink
  // ends it.
  template <class Sink>
  Result<void> add(std::string_view bytes, const Sink& sink) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      if (end == std::string_view::npos || !rest_.empty()) {
        const std::string_view part = bytes.substr(0, end);
        if (rest_.size() + part.size() > kExportLineBytesMax) return too_long();
        rest_.append(part);
        if (end == std::string_view::npos) return {};
        const std::string line = std::move(rest_);
        rest_.clear();
        TRY(emit(line, sink));
      } else {
        if (end > kExportLineBytesMax) return too_long();
        TRY(emit(bytes.substr(0, end), sink));
      }
      bytes.remove_prefix(end + 1);
    }
    return {};
  }
  // The last line may lack its line end.
  template <class Sink>
  Result<void> finish(const Sink& sink) {
    const std::string line = std::move(rest_);
    rest_.clear();
    return emit(line, sink);
  }

 private:
  template <class Sink>
  static Result<void> emit(std::string_view line, const Sink& sink) {
    return line.find_first_not_of(" \t\r") == std::string_view::npos ? Result<void>{} : sink(line);
  }
  static Result<void> too_long();

  std::string rest_;
};

}  // namespace pennyweight::collect
