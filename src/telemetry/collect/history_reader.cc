#include "telemetry/collect/history_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/ascii.h"
#include "core/check.h"
#include "core/http/address.h"
#include "core/percent.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "telemetry/prometheus/write_request.h"

namespace pennyweight::collect {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kReasonBytesMax = 300;  // of an answer, quoted in a message

std::string seconds(std::int64_t ms) { return fmt::format("{}.{:03}", ms / 1000, ms % 1000); }

http::Request form(const std::string& url, std::string_view path, std::string body) {
  std::string base = url;
  while (base.ends_with('/')) base.pop_back();
  return {.method = "POST",
          .url = base + std::string(path),
          .headers = {{"Content-Type", "application/x-www-form-urlencoded"}},
          .body = std::move(body)};
}

bool is_for_later(int status) { return status == 429 || (status >= 500 && status != 501); }

// Prometheus answers 422 to a query over its limits, and proxies answer 413.
bool is_too_much(int status) { return status == 422 || status == 413; }

std::unexpected<Error> refused(ErrorCode code, const std::string& url,
                               const http::Response& response) {
  return fail(code, fmt::format("{} answered {}: {}", http::shown_address(url), response.status,
                                printable_text(response.body, kReasonBytesMax)));
}

Error during_metric(const Error& error, std::string_view metric, const Interval& piece) {
  return error.during(fmt::format("{} of {}", metric, to_text(piece)));
}

}  // namespace

std::string_view to_text(HistoryApi api) {
  return api == HistoryApi::kPrometheus ? "prometheus" : "victoriametrics";
}

std::vector<Interval> plan_pieces(const Interval& window, milliseconds step) {
  CHECK(step.count() > 0, "a piece has a length");
  std::vector<Interval> pieces;
  Instant at = window.begin();
  while (at < window.end()) {
    const Instant next = from_unix_ms((unix_ms(at) / step.count() + 1) * step.count());
    const Instant end = std::min(next, window.end());
    pieces.emplace_back(at, end);
    at = end;
  }
  return pieces;
}

// The query is evaluated at the last millisecond of the piece, over its length. Prometheus 3 leaves
// out the millisecond at which the range begins, Prometheus 2 includes it; so the range begins one
// millisecond before the piece.
// An export must not ask for reduce_mem_usage: with it, VictoriaMetrics 1.79 (Debian 12) mixes up
// times and values of blocks that it reads at once. 696 of 4,995 exports of one window were wrong
// with it, and none without.
http::Request history_request(HistoryApi api, const std::string& url, std::string_view metric,
                              std::string_view matchers, const Interval& piece) {
  const std::string selector =
      fmt::format("{{__name__=\"{}\"{}{}}}", metric, matchers.empty() ? "" : ",", matchers);
  const std::int64_t last_ms = unix_ms(piece.end()) - 1;
  if (api == HistoryApi::kPrometheus) {
    return form(url, "/api/v1/query",
                "query=" + percent_encoded(fmt::format("{}[{}ms]", selector, piece.length_ms())) +
                    "&time=" + seconds(last_ms));
  }
  return form(url, "/api/v1/export",
              "match[]=" + percent_encoded(selector) + "&start=" + seconds(unix_ms(piece.begin())) +
                  "&end=" + seconds(last_ms));
}

Result<http::Response> HistoryReader::ask(const http::Request& request, int tries,
                                          const std::function<void()>& begin,
                                          const std::function<bool(std::string_view)>& body) {
  milliseconds wait = kHistoryWaitFirst;
  for (int left = tries - 1;; --left) {
    begin();
    ++counts_.requests;
    bool stopped = false;
    auto response = client_.stream(request, [&](std::string_view bytes) {
      stopped = !body(bytes);
      return !stopped;
    });
    if (stopped || (response && !is_for_later(response->status))) return response;
    if (left == 0) {
      return response ? Result<http::Response>(refused(ErrorCode::kIo, request.url, *response))
                      : response;
    }
    const milliseconds asked =
        response && response->retry_after ? *response->retry_after : milliseconds(0);
    const milliseconds pause = std::max(wait, std::min(asked, kHistoryRetryAfterMax));
    report_problem_(
        fmt::format("{}; asked again in {} s",
                    response ? refused(ErrorCode::kIo, request.url, *response).error().message
                             : response.error().message,
                    (pause.count() + 999) / 1000));
    ++counts_.retries;
    sleep_(pause);
    wait = std::min(wait * 2, kHistoryWaitMax);
  }
}

Result<HistoryApi> HistoryReader::detect() {
  http::Request request =
      history_request(HistoryApi::kVictoriaMetrics, options_.url, "pennyweight_asks_who_is_there",
                      {}, Interval(from_unix_ms(0), from_unix_ms(1000)));
  const auto response =
      TRY(ask(request, kHistoryTriesFirst, [] {}, [](std::string_view) { return true; }));
  if (response.status / 100 == 2) return HistoryApi::kVictoriaMetrics;
  if (response.status == 404 || response.status == 405 || response.status == 501) {
    return HistoryApi::kPrometheus;
  }
  return refused(ErrorCode::kBadFile, request.url, response);
}

Result<std::vector<std::string>> HistoryReader::keep_available_metrics(const Interval& window) {
  std::string base = options_.url;
  while (base.ends_with('/')) base.pop_back();
  const http::Request request{.url = fmt::format("{}/api/v1/label/__name__/values?start={}&end={}",
                                                 base, seconds(unix_ms(window.begin())),
                                                 seconds(unix_ms(window.end()) - 1))};
  std::string body;
  bool too_long = false;
  const auto response = ask(
      request, kHistoryTriesFirst, [&] { body.clear(); },
      [&](std::string_view bytes) {
        too_long = body.size() + bytes.size() > kHistoryAnswerBytesMax;
        if (!too_long) body.append(bytes);
        return !too_long;
      });
  if (too_long) return options_.metrics;
  if (!response) return std::unexpected(response.error());
  if (response->status == 401 || response->status == 403) {
    return refused(ErrorCode::kBadFile, request.url, *response);
  }
  if (response->status / 100 != 2) return options_.metrics;
  auto names = read_names(body);
  if (!names) return std::unexpected(names.error().during(http::shown_address(request.url)));
  std::ranges::sort(*names);
  std::erase_if(options_.metrics, [&](const std::string& metric) {
    return !std::ranges::binary_search(*names, metric);
  });
  return options_.metrics;
}

Result<void> HistoryReader::read_metric(HistoryApi api, std::string_view metric,
                                        SeriesBuffer& buffer, const Interval& piece) {
  const http::Request request =
      history_request(api, options_.url, metric, options_.matchers, piece);
  // A try that broke off may have brought samples, and the next try brings them again; sort() keeps
  // one of each. They count twice against the limit, which then halves the piece.
  std::string body;
  LineSplitter splitter;
  Result<void> taken;
  const auto line = [&](std::string_view text) { return buffer.add_line(text); };
  const auto response = ask(
      request, kHistoryTries,
      [&] {
        body.clear();
        splitter = LineSplitter();
      },
      [&](std::string_view bytes) {
        if (api == HistoryApi::kVictoriaMetrics) {
          taken = splitter.add(bytes, line);
        } else if (body.size() + bytes.size() > kHistoryAnswerBytesMax) {
          taken = fail(ErrorCode::kLimit,
                       fmt::format("an answer of more than {} MiB", kHistoryAnswerBytesMax >> 20));
        } else {
          body.append(bytes);
        }
        return taken.has_value();
      });
  if (!taken) return taken;
  if (!response) return std::unexpected(response.error());
  if (response->status / 100 != 2) {
    return refused(is_too_much(response->status) ? ErrorCode::kLimit : ErrorCode::kBadFile,
                   request.url, *response);
  }
  return api == HistoryApi::kVictoriaMetrics ? splitter.finish(line) : buffer.add_matrix(body);
}

Result<void> HistoryReader::read(HistoryApi api, const Interval& piece, const Sink& sink) {
  SeriesBuffer buffer(unix_ms(piece.begin()), unix_ms(piece.end()), options_.limits);
  for (const std::string& metric : options_.metrics) {
    const auto done = read_metric(api, metric, buffer, piece);
    if (done) continue;
    const bool can_halve =
        milliseconds(static_cast<std::int64_t>(piece.length_ms())) >= 2 * kPieceMin;
    if (done.error().code != ErrorCode::kLimit || !can_halve) {
      return std::unexpected(during_metric(done.error(), metric, piece));
    }
    ++counts_.halvings;
    const Instant half = piece.begin() + milliseconds(piece.length_ms() / 2);
    buffer = SeriesBuffer(0, 1);  // frees its memory for the halves
    TRY(read(api, Interval(piece.begin(), half), sink));
    return read(api, Interval(half, piece.end()), sink);
  }
  buffer.sort();
  return sink(piece, buffer);
}

Result<void> write_bodies(const SeriesBuffer& buffer,
                          const std::function<Result<void>(const std::string&)>& sink) {
  // The next sample of each series.
  struct Next {
    const RawSeries* series;
    std::size_t sample;
    std::int64_t at_ms() const { return series->samples[sample].at_ms; }
  };
  std::vector<Next> open;
  for (const RawSeries& series : buffer.series()) {
    if (!series.samples.empty()) open.push_back({&series, 0});
  }
  prometheus::WriteRequestBuilder builder;
  const auto send = [&]() -> Result<void> {
    if (builder.body().empty()) return {};
    const std::string body = builder.snappy();
    builder.clear();
    return sink(body);
  };
  while (!open.empty()) {
    std::ranges::stable_sort(open, {}, &Next::at_ms);
    const std::int64_t end_ms = (open.front().at_ms() / kSliceMs + 1) * kSliceMs;
    for (Next& next : open) {
      if (next.at_ms() >= end_ms) break;
      const std::vector<prometheus::Sample>& samples = next.series->samples;
      const std::size_t begin = next.sample;
      while (next.sample < samples.size() && samples[next.sample].at_ms < end_ms) ++next.sample;
      builder.add(next.series->labels, std::span(samples).subspan(begin, next.sample - begin));
      if (builder.body().size() >= kWriteBodyBytes) {
        TRY(send());
      }
      if (next.sample == samples.size()) next.series = nullptr;
    }
    std::erase_if(open, [](const Next& next) { return next.series == nullptr; });
  }
  return send();
}

}  // namespace pennyweight::collect
