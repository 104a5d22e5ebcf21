// HistoryReader: raw samples of a past window, read piece by piece from Prometheus or
// VictoriaMetrics.
//
// Samples come as they were scraped, never resampled: from a range selector, or from an export. A
// piece is read metric by metric and then held in memory as a whole, so that its samples can be
// given on in the order of time over all series: several series may report one measurement of a
// device one after the other, since their labels name the pod. A piece that is too large is read in
// halves.
//
// A request is repeated when the server does not answer, answers 429 or 5xx, or breaks off; after a
// growing pause, and not before Retry-After. Any other answer ends the backfill.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/http/client.h"
#include "core/instant.h"
#include "telemetry/collect/series_json.h"

namespace pennyweight::collect {

enum class HistoryApi : std::uint8_t {
  kPrometheus,       // /api/v1/query: Prometheus, Thanos, Mimir, VictoriaMetrics
  kVictoriaMetrics,  // /api/v1/export
};
std::string_view to_text(HistoryApi api);

inline constexpr int kHistoryTries = 8;
inline constexpr int kHistoryTriesFirst = 3;  // for the first request: the address may be wrong
inline constexpr std::chrono::milliseconds kHistoryWaitFirst{1'000};  // doubles
inline constexpr std::chrono::milliseconds kHistoryWaitMax{60'000};
inline constexpr std::chrono::milliseconds kHistoryRetryAfterMax{600'000};
inline constexpr std::size_t kHistoryAnswerBytesMax = 64u
                                                      << 20;   // of Prometheus, which is no stream
inline constexpr std::chrono::milliseconds kPieceMin{60'000};  // is not halved
inline constexpr std::size_t kWriteBodyBytes = 4u << 20;       // of one body, about
inline constexpr std::int64_t kSliceMs = 60'000;

// Consecutive pieces of a window, at whole multiples of `step`; the first and the last may be
// shorter. REQUIRES: a positive step.
std::vector<Interval> plan_pieces(const Interval& window, std::chrono::milliseconds step);

// The request for one metric's samples of a piece. `matchers` are further ones as PromQL writes
// them between braces, `cluster="prod"`; may be empty.
http::Request history_request(HistoryApi api, const std::string& url, std::string_view metric,
                              std::string_view matchers, const Interval& piece);

struct HistoryOptions {
  std::string url;       // "http://prometheus:9090", with a path where the API has one in front
  std::string matchers;  // may be empty
  std::vector<std::string> metrics;
  SeriesBuffer::Limits limits;
};

struct HistoryCounts {
  std::uint64_t requests = 0;
  std::uint64_t retries = 0;
  std::uint64_t halvings = 0;
};

class HistoryReader {
 public:
  using Sleep = std::function<void(std::chrono::milliseconds)>;
  // Called before each pause with what went wrong and how long the pause is.
  using ReportProblem = std::function<void(const std::string&)>;
  // `client` outlives this.
  HistoryReader(http::Client& client, HistoryOptions options, Sleep sleep,
                ReportProblem report_problem)
      : client_(client),
        options_(std::move(options)),
        sleep_(std::move(sleep)),
        report_problem_(std::move(report_problem)) {}

  // Finds out which API the server has: VictoriaMetrics answers /api/v1/export, Prometheus does
  // not.
  Result<HistoryApi> detect();

  // The metrics that the server has samples of in a window (/api/v1/label/__name__/values); from
  // here on only these are read. If the server can't say, all are.
  Result<std::vector<std::string>> keep_available_metrics(const Interval& window);

  // Reads a piece and gives it on in one or more parts, each with its interval, in order of time.
  using Sink = std::function<Result<void>(const Interval& part, SeriesBuffer& buffer)>;
  Result<void> read(HistoryApi api, const Interval& piece, const Sink& sink);

  const HistoryCounts& counts() const { return counts_; }

 private:
  Result<void> read_metric(HistoryApi api, std::string_view metric, SeriesBuffer& buffer,
                           const Interval& piece);
  // Repeats the request until the answer is final. `begin` is called before each try.
  Result<http::Response> ask(const http::Request& request, int tries,
                             const std::function<void()>& begin,
                             const std::function<bool(std::string_view)>& body);

  http::Client& client_;
  HistoryOptions options_;
  Sleep sleep_;
  ReportProblem report_problem_;
  HistoryCounts counts_;
};

// The samples of a buffer as bodies of remote write 1.0, compressed with snappy, of about
// kWriteBodyBytes before compression. They come minute by minute, and within a minute series by
// series in the order of their first samples, so that a series that takes over from another comes
// after it. REQUIRES: the buffer is sorted.
Result<void> write_bodies(const SeriesBuffer& buffer,
                          const std::function<Result<void>(const std::string&)>& sink);

}  // namespace pennyweight::collect
