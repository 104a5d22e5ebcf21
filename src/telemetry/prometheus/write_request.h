// WriteRequestBuilder: builds remote_write 1.0 bodies from labels and samples, for load generators
// and tests.
#pragma once

#include <span>
#include <string>

#include "telemetry/prometheus/series.h"

namespace pennyweight::prometheus {

class WriteRequestBuilder {
 public:
  // In the order given; the specification wants labels sorted by name.
  void add(std::span<const Label> labels, std::span<const Sample> samples);
  // prometheus.WriteRequest, not compressed.
  const std::string& body() const { return body_; }
  // As it goes over HTTP: snappy, the block format.
  std::string snappy() const;
  void clear() { body_.clear(); }

 private:
  std::string body_;
  std::string series_;
};

}  // namespace pennyweight::prometheus
