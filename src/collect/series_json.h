// SeriesJson: raw samples as Prometheus and VictoriaMetrics answer them, as JSON.
//
//   matrix  {"status":"success","data":{"resultType":"matrix","result":[
//             {"metric":{"__name__":"up"},"values":[[1435781430.781,"1"], …]}, …]}}
//           /api/v1/query of a range selector. Seconds with three decimals; values are texts, NaN
//           and +Inf among them. Stale markers and native histograms are left out, by the server
//           and by us.
//           https://prometheus.io/docs/prometheus/latest/querying/api/#range-vectors
//   lines   {"metric":{"__name__":"up"},"values":[1,null,"Infinity"],"timestamps":[1435781430781]}
//           /api/v1/export of VictoriaMetrics, an object a line, of one series perhaps several.
//           Milliseconds. All NaNs are null there: stale markers, and values that nobody knows,
//           which exporters hardly ever send. So null is a stale marker here.
//           https://docs.victoriametrics.com/#how-to-export-data-in-json-line-format
//
// Only [from, to) is kept: which end of a range is open depends on the server's version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "ingest/prometheus/series.h"

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

// The series of a piece, whatever answers they came in.
class SeriesPile {
 public:
  struct Limits {
    std::size_t series = kSeriesMax;
    std::size_t samples = kPieceSamplesMax;
  };
  // Keeps samples of [from_ms, to_ms).
  SeriesPile(std::int64_t from_ms, std::int64_t to_ms) : SeriesPile(from_ms, to_ms, Limits()) {}
  SeriesPile(std::int64_t from_ms, std::int64_t to_ms, const Limits& limits)
      : from_ms_(from_ms), to_ms_(to_ms), limits_(limits) {}

  // A whole answer of /api/v1/query. kBadFile: it is none; kLimit: too much for one piece.
  Result<void> add_matrix(std::string_view json);
  // A line of /api/v1/export. The same errors.
  Result<void> add_line(std::string_view json);
  // Puts the samples of each series in order of time, one of each millisecond.
  void sort();

  const std::vector<RawSeries>& series() const { return series_; }
  std::size_t samples() const { return samples_; }

 private:
  Result<RawSeries*> place_of(std::vector<prometheus::Label> labels);
  Result<void> keep(RawSeries& series, std::int64_t at_ms, double value);

  std::int64_t from_ms_;
  std::int64_t to_ms_;
  Limits limits_;
  std::vector<RawSeries> series_;
  std::map<std::string, std::size_t> places_;  // by the labels as one text
  std::size_t samples_ = 0;
};

// The texts of an answer {"status":"success","data":["a", …]}. kBadFile: it is none.
Result<std::vector<std::string>> read_names(std::string_view json);

// Cuts a stream into lines.
class LineCutter {
 public:
  // Hands on every line that is whole; kLimit for one that is too long. An Error of the sink ends
  // it.
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
        if (auto done = hand_on(line, sink); !done) return done;
      } else {
        if (end > kExportLineBytesMax) return too_long();
        if (auto done = hand_on(bytes.substr(0, end), sink); !done) return done;
      }
      bytes.remove_prefix(end + 1);
    }
    return {};
  }
  // The last line needs no end.
  template <class Sink>
  Result<void> finish(const Sink& sink) {
    const std::string line = std::move(rest_);
    rest_.clear();
    return hand_on(line, sink);
  }

 private:
  template <class Sink>
  static Result<void> hand_on(std::string_view line, const Sink& sink) {
    return line.find_first_not_of(" \t\r") == std::string_view::npos ? Result<void>{} : sink(line);
  }
  static Result<void> too_long();

  std::string rest_;
};

}  // namespace pennyweight::collect
