// CollectingSink: keeps all series that it is given, decoded; for tests and fuzzers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/check.h"
#include "telemetry/prometheus/series.h"

namespace pennyweight::prometheus {

struct CollectedSeries {
  Hash128 key;
  std::vector<Label> labels;
  std::vector<Sample> samples;

  // name{a="b"}, as a person would write it.
  std::string text() const {
    std::string name;
    std::string inside;
    for (const Label& label : labels) {
      if (label.name == "__name__") {
        name = label.value;
      } else {
        inside += (inside.empty() ? "" : ",") + label.name + "=\"" + label.value + "\"";
      }
    }
    return name + "{" + inside + "}";
  }
};

class CollectingSink final : public SeriesSink {
 public:
  void series(const Hash128& key, const EncodedLabels& labels,
              std::span<const Sample> samples) override {
    std::vector<Label> decoded;
    if (!labels.decode(decoded)) {
      ++refused;
      return;
    }
    const auto [known, is_new] = labels_of_key.try_emplace(key, decoded);
    CHECK(known->second == decoded, "one key never means two series");
    for (std::size_t i = 1; i < decoded.size(); ++i) {
      CHECK(decoded[i - 1].name < decoded[i].name, "labels are sorted, each name once");
    }
    CHECK(!samples.empty(), "a series without samples is not handed on");
    all.push_back({key, std::move(decoded), {samples.begin(), samples.end()}});
  }
  std::vector<CollectedSeries> all;
  std::map<Hash128, std::vector<Label>> labels_of_key;
  std::size_t refused = 0;
};

}  // namespace pennyweight::prometheus
