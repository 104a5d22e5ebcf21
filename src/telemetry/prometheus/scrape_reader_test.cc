#include "telemetry/prometheus/scrape_reader.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace pennyweight::prometheus {
namespace {

// "a=1 b=stale": what the sink got, by the labels that were decoded when a key came first.
class RecordingSink final : public SeriesSink {
 public:
  void series(const Hash128& key, const EncodedLabels& labels,
              std::span<const Sample> samples) override {
    std::string& name = names_[key];
    if (name.empty()) {
      std::vector<Label> decoded;
      ASSERT_TRUE(labels.decode(decoded)) << "a marker is for a key that was handed on before";
      for (const Label& label : decoded) {
        if (label.name == "__name__") name = label.value;
      }
    }
    const bool stale = std::bit_cast<std::uint64_t>(samples[0].value) == kStaleNan;
    all.insert(name + "=" + (stale ? "stale" : std::to_string(static_cast<int>(samples[0].value))) +
               "@" + std::to_string(samples[0].at_ms));
  }
  std::set<std::string> take() { return std::exchange(all, {}); }
  std::set<std::string> all;

 private:
  std::map<Hash128, std::string> names_;
};

Scrape answer(std::int64_t at_ms, std::string_view body, std::string_view type = "text/plain") {
  return {.at = from_unix_ms(at_ms), .answered = true, .content_type = type, .body = body};
}
using Set = std::set<std::string>;

TEST(ScrapeReader, WhatIsGoneIsEnded) {
  ScrapeReader reader({.labels = {{"job", "j"}}}, true);
  RecordingSink seen;
  EXPECT_EQ(reader.read(answer(1000, "a 1\nb 2\nc 3 500\n"), seen)->ended, 0u);
  EXPECT_EQ(seen.take(), (Set{"a=1@1000", "b=2@1000", "c=3@500"}));
  // All there in another order; c has a time of its own and is not ended.
  EXPECT_EQ(reader.read(answer(2000, "b 2\na 1\n"), seen)->ended, 0u);
  EXPECT_EQ(seen.take(), (Set{"a=1@2000", "b=2@2000"}));
  EXPECT_EQ(reader.read(answer(3000, "b 5\nd 4\n"), seen)->ended, 1u);
  EXPECT_EQ(seen.take(), (Set{"a=stale@3000", "b=5@3000", "d=4@3000"}));
  EXPECT_EQ(reader.series(), 2u);
  // A failed scrape ends all, and the next one has nothing left to end.
  EXPECT_EQ(reader.read({.at = from_unix_ms(4000)}, seen)->ended, 2u);
  EXPECT_EQ(seen.take(), (Set{"b=stale@4000", "d=stale@4000"}));
  EXPECT_EQ(reader.read({.at = from_unix_ms(5000)}, seen)->ended, 0u);
  EXPECT_EQ(reader.read(answer(6000, "a 1\n"), seen)->ended, 0u);
  EXPECT_EQ(seen.take(), (Set{"a=1@6000"}));
}

TEST(ScrapeReader, AnAnswerThatCantBeReadEndsAll) {
  ScrapeReader reader({}, false);
  RecordingSink seen;
  for (const auto& [body, type] :
       {std::pair{"<html>", "text/html"}, std::pair{"a 1\n", "application/openmetrics-text"}}) {
    ASSERT_TRUE(reader.read(answer(1000, "a 1 7\n"), seen));
    EXPECT_EQ(seen.take(), Set{"a=1@1000"});
    EXPECT_FALSE(reader.read(answer(2000, body, type), seen));
    EXPECT_EQ(seen.take(), Set{"a=stale@2000"});
  }
}

}  // namespace
}  // namespace pennyweight::prometheus
