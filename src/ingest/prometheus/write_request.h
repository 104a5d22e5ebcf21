// WriteRequestBuilder: labels and samples as a remote_write 1.0 body, for load generators and
// tests.
#pragma once

#include <span>
#include <string>

#include "ingest/prometheus/series.h"

namespace pennyweight::prometheus {

class WriteRequestBuilder {
 public:
  // In the order that they are given; the specification wants labels sorted by name.
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
