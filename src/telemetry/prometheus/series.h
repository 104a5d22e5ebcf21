// SeriesSink: takes samples one series at a time, whatever format they came in.
//
// remote_write 1.0 and 2.0, the text format, OpenMetrics and the protobuf exposition all end in
// one. Labels stay encoded until they are needed: of a million samples only the few thousand of new
// series are decoded.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/hash.h"

namespace pennyweight::prometheus {

struct Sample {
  std::int64_t at_ms;  // Unix time
  double value;        // a measurement, never money
};

// Prometheus ends a series by a sample with this NaN; other NaNs are unknown values.
inline constexpr std::uint64_t kStaleNan = 0x7ff0000000000002;

struct Label {
  std::string name;
  std::string value;
  auto operator<=>(const Label&) const = default;
};

// Labels that are not decoded yet. The metric's name is the label "__name__".
class EncodedLabels {
 public:
  virtual ~EncodedLabels() = default;
  // Sorted by name, each name once. False where they break a limit or the encoding: the series is
  // then dropped and counted.
  virtual bool decode(std::vector<Label>& labels) const = 0;
};

class SeriesSink {
 public:
  virtual ~SeriesSink() = default;
  // `key` is a fingerprint of the encoded labels: one key never stands for two series, but one
  // series may come under several keys (another order, another protocol). `labels` and `samples`
  // live until this returns. Samples are in the sender's order.
  virtual void series(const Hash128& key, const EncodedLabels& labels,
                      std::span<const Sample> samples) = 0;
};

}  // namespace pennyweight::prometheus
