// LabelView: the labels of one series, by name, with the rules that all exporters share: whose pod
// it is, on which node, in which cluster, and who sent it.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "telemetry/classification.h"

namespace pennyweight::telemetry {

class LabelView {
 public:
  // REQUIRES: both outlive it; `labels` sorted by name.
  LabelView(std::span<const prometheus::Label> labels, const ClassificationOptions& options)
      : labels_(labels), options_(options) {}

  std::span<const prometheus::Label> all() const { return labels_; }
  const ClassificationOptions& options() const { return options_; }

  // Empty where there is no such label: Prometheus does not distinguish the two.
  std::string_view value(std::string_view name) const;
  std::string_view metric() const { return value("__name__"); }

  // The label as the exporter wrote it. Prometheus, unless it honors labels (honor_labels), renames
  // an exporter's label to exported_* where the target has one of the same name.
  std::string_view exporter_value(std::string_view name) const;
  // The first of several labels that is there, read as exporter_value() does.
  std::string_view first_exporter_value(std::initializer_list<std::string_view> names) const;

  // "namespace/pod", or the id of an HPC job. Empty where the labels name no workload, or only the
  // exporter's own pod (dcgm-exporter #340).
  std::string workload() const;
  ClusterId cluster() const;
  // Empty where no label names a machine: neither the exporter's pod nor an address is one.
  NodeId node() const;
  // The family, and what else distinguishes two sources of one family.
  std::string source(std::string_view family, std::string_view variant) const;
  bool is_exporter(std::string_view pod) const;

  // Whether every label can be stored: well-formed UTF-8, and no longer than an id may be.
  bool has_storable_labels() const;

 private:
  std::span<const prometheus::Label> labels_;
  const ClassificationOptions& options_;
};

}  // namespace pennyweight::telemetry
