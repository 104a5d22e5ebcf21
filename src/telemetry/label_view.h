// Labels of one series, looked up by name, with the rules that all exporters share: whose pod it
// is, on which node, in which cluster, and who sent it.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "telemetry/meaning.h"

namespace pennyweight::telemetry {

class LabelView {
 public:
  // REQUIRES: both outlive it; `labels` sorted by name.
  LabelView(std::span<const prometheus::Label> labels, const MeaningOptions& options)
      : labels_(labels), options_(options) {}

  std::span<const prometheus::Label> all() const { return labels_; }
  const MeaningOptions& options() const { return options_; }

  // Empty where there is no such label: Prometheus does not tell the two apart.
  std::string_view value(std::string_view name) const;
  std::string_view metric() const { return value("__name__"); }

  // What the exporter itself said under that name. Prometheus, unless told to honor_labels, renames
  // a label of the exporter to exported_* where the target has one of its own.
  std::string_view own(std::string_view name) const;
  // The first of several names that is there, each as own() reads it.
  std::string_view first_own(std::initializer_list<std::string_view> names) const;

  // "namespace/pod", or an HPC job's id; empty where the labels name no workload, or only the
  // exporter's own pod (dcgm-exporter #340).
  std::string workload() const;
  ClusterId cluster() const;
  // Empty where no label names a machine: the exporter's pod and an address are none.
  NodeId node() const;
  // The family, then what else tells two speakers of one family apart.
  std::string source(std::string_view family, std::string_view variant) const;
  bool is_exporter(std::string_view pod) const;

  // Whether every label can be kept: well-formed UTF-8, and no longer than an id may be.
  bool fit() const;

 private:
  std::span<const prometheus::Label> labels_;
  const MeaningOptions& options_;
};

}  // namespace pennyweight::telemetry
