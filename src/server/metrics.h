// Writes the program's own metrics in the Prometheus text format 0.0.4.
// https://prometheus.io/docs/instrumenting/exposition_formats/
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pennyweight::server {

class MetricsText {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

  // Begins a family, whose samples follow. `type` is counter or gauge; names of counters end in
  // _total.
  void family(std::string_view name, std::string_view type, std::string_view help);
  void sample(const Labels& labels, std::uint64_t value);
  // Writes the value as given: "0.25".
  void sample(const Labels& labels, std::string_view value);
  const std::string& text() const { return text_; }

 private:
  std::string name_;
  std::string text_;
};

}  // namespace pennyweight::server
