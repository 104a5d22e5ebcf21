// Makes the labels of a pod's holding from the pod, its namespace and its owners, under documented
// keys.
//
// Every key is in docs/guide/kubernetes-labels.md. A key that is made here wins over a label of the
// pod with the same key, which then has the key "pod.label/<key>".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/label.h"
#include "ingest/schedulers/kubernetes/owner_chain.h"
#include "ingest/schedulers/kubernetes/packed_texts.h"

namespace pennyweight::kubernetes {

struct LabelOptions {
  // Annotations to keep whatever their length: "team", or all of "example.com/*".
  std::vector<std::string> annotations = {};
  // Others are kept up to this length; 0: only the named ones.
  std::size_t annotation_bytes_max = 128;
};

// Whether an annotation becomes a label. Those of network plugins, checksums and the like change
// with every pod and explain nothing; they are kept only if they are named.
bool keeps_annotation(const LabelOptions& options, std::string_view key, std::size_t bytes);

struct LabelSource {
  std::string_view name_space;
  std::string_view pod;
  std::string_view node;
  std::string_view service_account;
  std::string_view priority_class;
  std::string_view images;       // of its containers, ',' between them
  std::string_view final_phase;  // of a pod that has ended; empty: it runs, or it is not stated
  const PackedTexts* labels;
  const PackedTexts* annotations;       // those that are kept
  const PackedTexts* namespace_labels;  // nullptr: the namespace is not known
  std::span<const Owner> owners;
};

struct PodLabels {
  Labels labels;
  std::size_t dropped = 0;  // beyond limits::kLabelsMax, or longer than a label may be
};
// Where there are too many, the pod's annotations are dropped first, then its namespace's labels.
PodLabels pod_labels(const LabelSource& source);

}  // namespace pennyweight::kubernetes
