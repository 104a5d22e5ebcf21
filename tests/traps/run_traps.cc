// Runs tests/traps/*.case through the parser, the classification and the accumulator. trap_case.h
// describes the format of a case.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "telemetry/live/flush_rows.h"
#include "telemetry/live/sample_stream.h"
#include "telemetry/prometheus/exposition.h"
#include "trap_case.h"
#include "trap_text.h"

namespace pennyweight::traps {
namespace {

using prometheus::Label;
using telemetry::Classification;
using telemetry::DeviceSeries;

// One series of a case, from any sender, however often it comes.
struct NamedSeries {
  std::string metric;
  Classification classification;
  std::size_t alike;  // the first series of the same identity and source; itself where it is one
  std::size_t about;  // the first series of the same identity
};

class Scrapes : public prometheus::SeriesSink {
 public:
  explicit Scrapes(const TrapCase& given)
      : given_(given),
        options_{.classification = given.options, .timing = {}, .limits = {}},
        stream_(options_, /*is_past=*/false, counts_, unusable_, nullptr) {
    for (const Scrape& scrape : given.scrapes) {
      scrape_ = &scrape;
      stream_.begin_body(scrape.at_ms, ClusterId(""));
      prometheus::TargetLabels target{.labels = given.target, .honor_labels = given.honor_labels};
      target.labels.insert(target.labels.end(), scrape.sender.begin(), scrape.sender.end());
      const auto report =
          prometheus::parse_exposition(prometheus::ExpositionFormat::kText, scrape.text, target,
                                       {.scraped_at = from_unix_ms(scrape.at_ms)}, *this);
      if (!report) throw std::runtime_error(report.error().message);
      if (report->bad > 0) throw std::runtime_error(report->first_bad.at(0).reason);
      last_ms_ = std::max(last_ms_, scrape.at_ms);
    }
    keep();
  }

  void series(const Hash128& key, const prometheus::EncodedLabels& encoded,
              std::span<const prometheus::Sample> samples) override {
    std::vector<Label> labels;
    if (!encoded.decode(labels)) throw std::runtime_error("labels that can't be decoded");
    if (places_.insert(labels).second) learn(labels);
    std::vector<prometheus::Sample> sent(samples.begin(), samples.end());
    for (prometheus::Sample& sample : sent) {
      if (scrape_->ends) sample.value = std::bit_cast<double>(prometheus::kStaleNan);
    }
    stream_.series(key, encoded, sent);
  }

  std::string classifications() const {
    std::string text;
    for (std::size_t i = 0; i < known_.size(); ++i) {
      const NamedSeries& known = known_[i];
      text += fmt::format("  {} {}: ", i + 1, known.metric);
      if (known.alike != i) {
        text += fmt::format("the same as {}{}\n", known.alike + 1,
                            elsewhere(known.classification, known_[known.alike].classification));
      } else {
        text += text_of(known.classification);
        text += known.about != i ? fmt::format(", about what {} is\n", known.about + 1) : "\n";
      }
    }
    return text;
  }

  // How many samples were values, duplicates, blanks …
  std::string readings() const {
    std::string text;
    for (std::size_t i = 0; i < live::kStreamCounters; ++i) {
      if (counts_[i] == 0) continue;
      text += fmt::format("  {} {}\n", counts_[i], to_text(static_cast<live::StreamCounter>(i)));
    }
    return text;
  }

  const std::string& rows() const { return rows_; }

 private:
  void learn(const std::vector<Label>& labels) {
    NamedSeries known{.metric = {},
                      .classification = telemetry::classify_series(labels, given_.options),
                      .alike = known_.size(),
                      .about = known_.size()};
    for (const Label& label : labels) {
      if (label.name == "__name__") known.metric = label.value;
    }
    if (const auto identity = identity_text(known.classification); !identity.first.empty()) {
      known.about = about_.try_emplace(identity.first, known_.size()).first->second;
      known.alike = alike_.try_emplace(identity, known_.size()).first->second;
    }
    known_.push_back(std::move(known));
  }

  // The fields in which copies may differ, though they should not.
  static std::string elsewhere(const Classification& copy, const Classification& first) {
    const auto* a = std::get_if<DeviceSeries>(&copy);
    const auto* b = std::get_if<DeviceSeries>(&first);
    if (a == nullptr || b == nullptr || (a->node == b->node && a->model == b->model)) return "";
    return fmt::format(", on '{}' ({})", a->node.text(), a->model);
  }

  static std::pair<std::string, std::string> identity_text(const Classification& meaning) {
    const auto* device = std::get_if<DeviceSeries>(&meaning);
    if (device != nullptr && device->is_description) return {};
    if (device != nullptr) {
      return {to_text(telemetry::series_identity(*device)), device->source};
    }
    if (const auto* outcome = std::get_if<telemetry::OutcomeSeries>(&meaning)) {
      return {to_text(telemetry::series_identity(*outcome)), outcome->source};
    }
    return {};
  }

  // The rows that the ledger would get, up to the last scrape.
  void keep() {
    live::FlushRows rows;
    stream_.finish(last_ms_, last_ms_, [](const Hash128&) { return 1; }, rows);
    const auto read =
        rows.read({.usages = [&](std::span<const Usage> usages) { return show(usages); },
                   .gpus = [](std::span<const Gpu>) -> Result<void> { return {}; },
                   .outcomes = [&](std::span<const Outcome> all) { return show(all); }});
    if (!read) throw std::runtime_error(read.error().message);
    std::ranges::sort(lines_);
    for (const std::string& line : lines_) rows_ += "  " + line + "\n";
  }
  template <class Fact>
  Result<void> show(std::span<const Fact> facts) {
    for (const Fact& fact : facts) lines_.push_back(text_of(fact));
    return {};
  }

  const TrapCase& given_;
  const Scrape* scrape_ = nullptr;
  std::vector<NamedSeries> known_;
  std::set<std::vector<Label>> places_;
  std::map<std::string, std::size_t> about_;
  std::map<std::pair<std::string, std::string>, std::size_t> alike_;
  live::StreamOptions options_;
  live::StreamCounts counts_{};
  std::map<std::string, std::uint64_t> unusable_;
  live::SampleStream stream_;
  std::int64_t last_ms_ = 0;
  std::vector<std::string> lines_;
  std::string rows_;
};

std::vector<std::filesystem::path> cases() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(PROJECT_ROOT "/tests/traps")) {
    if (entry.path().extension() == ".case") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

class Traps : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Traps, ComeOutAsStated) {
  const TrapCase given = read_case(GetParam());
  ASSERT_FALSE(given.scrapes.empty());
  ASSERT_FALSE(given.expected.empty()) << "a case states what must come out";
  const Scrapes run(given);
  const bool update = std::getenv("UPDATE_TRAPS") != nullptr;
  std::string now = given.given;
  for (const Expected& expected : given.expected) {
    const std::string lines = expected.word == "meaning"    ? run.classifications()
                              : expected.word == "readings" ? run.readings()
                                                            : run.rows();
    now += expected.word + "\n" + lines;
    if (!update) {
      EXPECT_EQ(lines, expected.lines) << expected.word;
    }
  }
  if (update) std::ofstream(GetParam()) << now;
}

INSTANTIATE_TEST_SUITE_P(Case, Traps, testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.stem().string(); });

}  // namespace
}  // namespace pennyweight::traps
