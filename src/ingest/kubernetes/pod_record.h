// PodRecord: a pod as far as it is kept: what it asks for, where and when, and its words.
//
// Some 2 KB of a pod that has 10 KB of JSON; a cluster of 100,000 pods fits in 250 MB.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ingest/kubernetes/object.h"
#include "ingest/kubernetes/packed_texts.h"
#include "ingest/kubernetes/pod_request.h"
#include "ingest/kubernetes/workload_labels.h"

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
  PackedTexts device_notes;  // annotations that say on which devices it is
  std::vector<OwnerReference> owners;
  std::vector<std::string> claims;  // names of ResourceClaims
  PodRequest request;
  std::string problem;  // its request can't be read; empty: it can
  // How many containers there are, init containers that don't stay, and whether HAMi's annotation
  // may begin with those.
  std::size_t containers = 0;
  std::size_t init_containers = 0;

  std::optional<Instant> begin;  // it was given its node; nothing: it waits
  // It ended, as far as the object says when; `has_ended` without `end` leaves it to who saw it.
  bool has_ended = false;
  std::optional<Instant> end;
  std::string final_phase;          // "Succeeded" or "Failed"; empty: neither was said
  std::optional<Instant> deletion;  // asked for, and due then
};

PodRecord record_of(const Pod& pod, const LabelOptions& options);

}  // namespace pennyweight::kubernetes
