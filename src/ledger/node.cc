#include "ledger/node.h"

#include <fmt/format.h>

namespace pennyweight {
namespace {

void add_time(Fingerprint& print, const std::optional<Instant>& at) {
  if (at) {
    print.add(unix_ms(*at));
  } else {
    print.add_absent();
  }
}

std::string text_of(const std::optional<std::uint64_t>& value) {
  return value ? std::to_string(*value) : "unknown";
}

std::string text_of(const std::optional<Instant>& at) { return at ? to_text(*at) : "open"; }

// Collects "<name> '<old>' there, '<new>' here" for each pair that differs.
class Differences {
 public:
  void compare(std::string_view what, const std::string& there, const std::string& here) {
    if (there == here) return;
    if (!text_.empty()) text_ += "; ";
    text_ += fmt::format("{} '{}' there, '{}' here", what, there, here);
  }
  std::string text() const { return text_; }

 private:
  std::string text_;
};

std::string layout_of(const Gpu& gpu) {
  std::string text;
  for (const auto& mig : gpu.mig_instances)
    text += fmt::format("{}={};", mig.id.text(), mig.profile);
  return text;
}

}  // namespace

std::string_view to_text(GpuSharing sharing) {
  switch (sharing) {
    case GpuSharing::kNone:
      return "none";
    case GpuSharing::kTimeSlicing:
      return "time-slicing";
    case GpuSharing::kMps:
      return "mps";
  }
  return "";
}

std::optional<GpuSharing> parse_gpu_sharing(std::string_view text) {
  for (const auto sharing : {GpuSharing::kNone, GpuSharing::kTimeSlicing, GpuSharing::kMps}) {
    if (to_text(sharing) == text) return sharing;
  }
  return std::nullopt;
}

Hash128 natural_key(const Node& node) {
  return Fingerprint()
      .add("node")
      .add(node.cluster.text())
      .add(node.name.text())
      .add(unix_ms(node.from))
      .hash();
}

Hash128 content_hash(const Node& node) {
  Fingerprint print;
  print.add(node.cluster.text())
      .add(node.name.text())
      .add(node.provider_id)
      .add(node.instance_type)
      .add(node.region)
      .add(node.pool.text())
      .add(node.gpu_model)
      .add(std::int64_t{node.gpu_count})
      .add(std::int64_t{node.shard_count})
      .add(std::int64_t{node.mps_count})
      .add(to_text(node.sharing))
      .add(std::int64_t{node.gpu_replicas})
      .add(std::int64_t{node.replicas_renamed})
      .add(unix_ms(node.from));
  print.add(node.cpu_milli);
  print.add(node.memory_bytes);
  add_time(print, node.to);
  return print.hash();
}

std::string difference(const Node& there, const Node& here) {
  Differences found;
  found.compare("provider_id", there.provider_id, here.provider_id);
  found.compare("instance_type", there.instance_type, here.instance_type);
  found.compare("region", there.region, here.region);
  found.compare("pool", there.pool.text(), here.pool.text());
  found.compare("gpu_model", there.gpu_model, here.gpu_model);
  found.compare("gpu_count", std::to_string(there.gpu_count), std::to_string(here.gpu_count));
  found.compare("shard_count", std::to_string(there.shard_count), std::to_string(here.shard_count));
  found.compare("mps_count", std::to_string(there.mps_count), std::to_string(here.mps_count));
  found.compare("sharing", std::string(to_text(there.sharing)), std::string(to_text(here.sharing)));
  found.compare("gpu_replicas", std::to_string(there.gpu_replicas),
                std::to_string(here.gpu_replicas));
  found.compare("replicas_renamed", there.replicas_renamed ? "yes" : "no",
                here.replicas_renamed ? "yes" : "no");
  found.compare("CPU milli", text_of(there.cpu_milli), text_of(here.cpu_milli));
  found.compare("memory bytes", text_of(there.memory_bytes), text_of(here.memory_bytes));
  found.compare("to", text_of(there.to), text_of(here.to));
  return found.text();
}

Hash128 natural_key(const Gpu& gpu) {
  return Fingerprint()
      .add("gpu")
      .add(gpu.cluster.text())
      .add(gpu.uuid.text())
      .add(unix_ms(gpu.from))
      .hash();
}

Hash128 content_hash(const Gpu& gpu) {
  Fingerprint print;
  print.add(gpu.cluster.text())
      .add(gpu.node.text())
      .add(gpu.uuid.text())
      .add(std::int64_t{gpu.index})
      .add(gpu.model)
      .add(unix_ms(gpu.from));
  print.add(gpu.memory_bytes);
  add_time(print, gpu.to);
  for (const auto& mig : gpu.mig_instances) print.add(mig.id.text()).add(mig.profile);
  return print.hash();
}

std::string difference(const Gpu& there, const Gpu& here) {
  Differences found;
  found.compare("node", there.node.text(), here.node.text());
  found.compare("index", std::to_string(there.index), std::to_string(here.index));
  found.compare("model", there.model, here.model);
  found.compare("memory bytes", text_of(there.memory_bytes), text_of(here.memory_bytes));
  found.compare("MIG layout", layout_of(there), layout_of(here));
  found.compare("to", text_of(there.to), text_of(here.to));
  return found.text();
}

}  // namespace pennyweight
