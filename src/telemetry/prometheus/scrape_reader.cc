#include "telemetry/prometheus/scrape_reader.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <utility>

namespace pennyweight::prometheus {
namespace {

class ForgottenLabels final : public EncodedLabels {
 public:
  bool decode(std::vector<Label>& /*labels*/) const override { return false; }
};

// Records the keys of samples whose time is that of the scrape.
class Recorder final : public SeriesSink {
 public:
  Recorder(std::int64_t at_ms, std::vector<Hash128>& keys, SeriesSink& sink)
      : at_ms_(at_ms), keys_(keys), sink_(sink) {}
  void series(const Hash128& key, const EncodedLabels& labels,
              std::span<const Sample> samples) override {
    if (samples.back().at_ms == at_ms_) keys_.push_back(key);
    sink_.series(key, labels, samples);
  }

 private:
  std::int64_t at_ms_;
  std::vector<Hash128>& keys_;
  SeriesSink& sink_;
};

}  // namespace

ScrapeReader::ScrapeReader(TargetLabels target, bool honor_timestamps, const LabelLimits& limits)
    : target_(std::move(target)), honor_timestamps_(honor_timestamps), limits_(limits) {}

std::uint64_t ScrapeReader::end_missing(std::vector<Hash128>& now, Instant at, SeriesSink& sink) {
  // Exporters keep their order, so there is mostly nothing to compare.
  if (now == last_) return 0;
  std::vector<Hash128> before = last_;
  std::vector<Hash128> present = now;
  std::ranges::sort(before);
  std::ranges::sort(present);
  std::vector<Hash128> missing;
  std::ranges::set_difference(before, present, std::back_inserter(missing));
  const Sample end = {.at_ms = unix_ms(at), .value = std::bit_cast<double>(kStaleNan)};
  const ForgottenLabels labels;
  for (const Hash128& key : missing) sink.series(key, labels, std::span(&end, 1));
  return missing.size();
}

Result<ScrapeReport> ScrapeReader::read(const Scrape& scrape, SeriesSink& sink) {
  ScrapeReport report;
  now_.clear();
  std::optional<Error> error;
  if (scrape.answered) {
    const auto format = parse_exposition_format(scrape.content_type);
    if (format) {
      Recorder recorder(unix_ms(scrape.at), now_, sink);
      auto parsed = parse_exposition(
          *format, scrape.body, target_,
          {.scraped_at = scrape.at, .labels = limits_, .honor_timestamps = honor_timestamps_},
          recorder);
      if (parsed) {
        report.exposition = std::move(*parsed);
      } else {
        error = parsed.error();
      }
    } else {
      error = format.error();
    }
  }
  report.ended = end_missing(now_, scrape.at, sink);
  std::swap(last_, now_);
  if (error) return std::unexpected(*error);
  return report;
}

}  // namespace pennyweight::prometheus
