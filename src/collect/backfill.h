// Backfill: raw samples of a past window, read from Prometheus or VictoriaMetrics, in pieces.
//
// Samples as they were scraped, never resampled: a range selector, or an export. A piece is asked
// for metric by metric and is then in memory as a whole, so that it can be handed on in the order
// of time over all series: one device's measurement may be told by several series one after the
// other, since their labels name the pod. What is too much for one piece is asked for in halves.
//
// The server is asked again when it does not answer, says 429 or 5xx, or breaks off; later each
// time, and not before Retry-After. Other answers end the backfill.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "collect/series_json.h"
#include "core/error.h"
#include "core/instant.h"
#include "http/client.h"

namespace pennyweight::collect {

enum class HistoryApi : std::uint8_t {
  kPrometheus,       // /api/v1/query: Prometheus, Thanos, Mimir, VictoriaMetrics
  kVictoriaMetrics,  // /api/v1/export
};
std::string_view to_text(HistoryApi api);

inline constexpr int kHistoryTries = 8;
inline constexpr int kHistoryTriesFirst = 3;  // of the first contact: the address may be wrong
inline constexpr std::chrono::milliseconds kHistoryWaitFirst{1'000};  // doubles
inline constexpr std::chrono::milliseconds kHistoryWaitMax{60'000};
inline constexpr std::chrono::milliseconds kHistoryRetryAfterMax{600'000};
inline constexpr std::size_t kHistoryAnswerBytesMax = 64u
                                                      << 20;   // of Prometheus, which is no stream
inline constexpr std::chrono::milliseconds kPieceMin{60'000};  // no halves of it
inline constexpr std::size_t kWriteBodyBytes = 4u << 20;       // of one body, about
inline constexpr std::int64_t kSliceMs = 60'000;

// Consecutive pieces of a window, each of `step`, at whole multiples of it; the first and the last
// may be shorter. REQUIRES: a positive step.
std::vector<Interval> plan_pieces(const Interval& window, std::chrono::milliseconds step);

// The request for one metric's samples of a piece. `matchers` are further ones, as PromQL writes
// them between braces: `cluster="prod"`; may be empty.
http::Request history_request(HistoryApi api, const std::string& url, std::string_view metric,
                              std::string_view matchers, const Interval& piece);

struct HistoryOptions {
  std::string url;       // "http://prometheus:9090", with a path where the API has one in front
  std::string matchers;  // may be empty
  std::vector<std::string> metrics;
  SeriesPile::Limits limits;
};

struct HistoryCounts {
  std::uint64_t requests = 0;
  std::uint64_t retries = 0;
  std::uint64_t halvings = 0;
};

class History {
 public:
  using Sleep = std::function<void(std::chrono::milliseconds)>;
  // Told before each wait: what went wrong and for how long.
  using Tell = std::function<void(const std::string&)>;
  // `client` outlives this.
  History(http::Client& client, HistoryOptions options, Sleep sleep, Tell tell)
      : client_(client),
        options_(std::move(options)),
        sleep_(std::move(sleep)),
        tell_(std::move(tell)) {}

  // Which one is there: VictoriaMetrics answers /api/v1/export, Prometheus has no such page.
  Result<HistoryApi> detect();

  // Which of the metrics the server knows in a window (/api/v1/label/__name__/values): only these
  // are asked for from here on. Where it will not say, all are.
  Result<std::vector<std::string>> keep_known(const Interval& window);

  // All of a piece in one or more parts, each with its part of the piece, in order of time.
  using Sink = std::function<Result<void>(const Interval& part, SeriesPile& pile)>;
  Result<void> read(HistoryApi api, const Interval& piece, const Sink& sink);

  const HistoryCounts& counts() const { return counts_; }

 private:
  Result<void> read_metric(HistoryApi api, std::string_view metric, SeriesPile& pile,
                           const Interval& piece);
  // Any answer but one that is to be waited for. `begin` is called before each try.
  Result<http::Response> ask(const http::Request& request, int tries,
                             const std::function<void()>& begin,
                             const std::function<bool(std::string_view)>& body);

  http::Client& client_;
  HistoryOptions options_;
  Sleep sleep_;
  Tell tell_;
  HistoryCounts counts_;
};

// The samples of a pile as bodies of remote write 1.0, snappy, of about kWriteBodyBytes before
// that. Minute after minute, and in a minute the series by their first sample: so one that takes
// over from another comes after it. REQUIRES: the pile is sorted.
Result<void> write_bodies(const SeriesPile& pile,
                          const std::function<Result<void>(const std::string&)>& sink);

}  // namespace pennyweight::collect
