// PodRecord: the kept part of a pod: what it requests, where and when it runs, and its labels.
//
// Some 2 KB of a pod that has 10 KB of JSON; a cluster of 100,000 pods fits in 250 MB.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ingest/schedulers/kubernetes/object.h"
#include "ingest/schedulers/kubernetes/packed_texts.h"
#include "ingest/schedulers/kubernetes/pod_request.h"
#include "ingest/schedulers/kubernetes/workload_labels.h"

namespace pennyweight::kubernetes {

struct PodRecord {
  std::string name_space;
  std::string name;
  std::string uid;
  std::string node;
  std::string service_account;
  std::string priority_class;
  std::string images;
  PackedTexts labels;
  PackedTexts annotations;   // that become labels
  PackedTexts device_notes;  // annotations that name its devices
  std::vector<OwnerReference> owners;
  std::vector<std::string> claims;  // names of ResourceClaims
  PodRequest request;
  std::string problem;  // why its request can't be read; empty: it can
  // How many containers there are, how many init containers that do not stay, and whether HAMi's
  // annotation may begin with those.
  std::size_t containers = 0;
  std::size_t init_containers = 0;

  std::optional<Instant> begin;  // when it was given its node; nothing: it waits
  // Its end as far as the object says. `has_ended` without `end`: the caller knows when it was last
  // seen.
  bool has_ended = false;
  std::optional<Instant> end;
  std::string final_phase;          // "Succeeded" or "Failed"; empty: not stated
  std::optional<Instant> deletion;  // when a requested deletion is due
};

PodRecord make_record(const Pod& pod, const LabelOptions& options);

}  // namespace pennyweight::kubernetes
