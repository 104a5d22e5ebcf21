// Id<Tag>: a name of one kind of thing, so that a team's id can't be passed for a job's.
#pragma once

#include <compare>
#include <string>
#include <utility>

namespace pennyweight {

template <class Tag>
class Id {
 public:
  explicit Id(std::string text) : text_(std::move(text)) {}
  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  auto operator<=>(const Id&) const = default;

 private:
  std::string text_;
};

using ClusterId = Id<struct ClusterTag>;    // a Kubernetes or Slurm cluster, by configured name
using NodeId = Id<struct NodeTag>;          // a node's name within its cluster
using PoolId = Id<struct PoolTag>;          // a pool of nodes within a cluster (partition, pool)
using GpuId = Id<struct GpuTag>;            // a GPU or MIG UUID
using WorkloadId = Id<struct WorkloadTag>;  // a job or pod, unique within its cluster
using TeamId = Id<struct TeamTag>;
using JobId = Id<struct JobTag>;

}  // namespace pennyweight
