#include "telemetry/live/discovered_gpu.h"

#include <algorithm>

namespace pennyweight::live {

void DiscoveredGpu::describe(GpuDescription describe) {
  const bool is_other = describe.node != description_.node ||
                        describe.index != description_.index ||
                        describe.model != description_.model;
  if (is_other && describe.since_ms >= description_.since_ms) description_ = std::move(describe);
}

void DiscoveredGpu::observe_samples(std::int64_t first_ms, std::int64_t newest_ms) {
  if (first_ms_ < 0 || first_ms < first_ms_) first_ms_ = first_ms;
  newest_ms_ = std::max(newest_ms_, newest_ms);
}

void DiscoveredGpu::observe_instance(const std::string& id, const std::string& profile,
                                     std::int64_t first_ms, std::int64_t newest_ms) {
  const auto [at, is_new] = instances_.try_emplace(id, Instance{profile, first_ms, newest_ms});
  Instance& instance = at->second;
  if (is_new || newest_ms <= instance.newest_ms) return;
  if (instance.profile != profile) {
    instance = {profile, std::max(first_ms, instance.newest_ms + 1), newest_ms};
  } else if (instance.is_gone) {
    instance = {profile, newest_ms, newest_ms};
  }
  instance.newest_ms = newest_ms;
}

std::optional<Gpu> DiscoveredGpu::next_fact(const ClusterId& cluster, const GpuId& uuid,
                                            std::int64_t resolution_ms) {
  if (first_ms_ < 0 || newest_ms_ - first_ms_ < 2 * resolution_ms) return std::nullopt;
  // Instances without samples for so long are gone.
  const std::int64_t gone_ms = std::max<std::int64_t>(2 * resolution_ms, 90'000);
  std::map<std::string, std::string> present;
  std::int64_t latest_ms = 0;  // when the last of them came
  std::int64_t left_ms = 0;    // when the last one went
  for (auto& [id, instance] : instances_) {
    if (newest_ms_ - instance.newest_ms > gone_ms) {
      instance.is_gone = true;
      if (written_ && written_->instances.contains(id))
        left_ms = std::max(left_ms, instance.newest_ms);
      continue;
    }
    present[id] = instance.profile;
    const bool is_written = written_ && written_->instances.contains(id) &&
                            written_->instances.at(id) == instance.profile;
    if (!is_written) latest_ms = std::max(latest_ms, instance.first_ms);
  }
  // More instances may be about to come.
  if (latest_ms > 0 && newest_ms_ - latest_ms < resolution_ms) return std::nullopt;
  const auto index = static_cast<std::uint32_t>(std::max(description_.index, 0));
  std::int64_t from_ms = first_ms_;
  if (written_) {
    const bool looks_other = written_->node != description_.node.text() ||
                             written_->index != index || written_->model != description_.model;
    const bool layout_other = written_->instances != present;
    const bool memory_other = !written_->memory_bytes && memory_bytes_;
    if (!looks_other && !layout_other && !memory_other) return std::nullopt;
    from_ms = written_->from_ms + 1;
    if (looks_other) from_ms = std::max(from_ms, description_.since_ms);
    if (layout_other) from_ms = std::max(from_ms, latest_ms > 0 ? latest_ms : left_ms + 1);
  }
  written_ = WrittenFact{
      description_.node.text(), index, description_.model, memory_bytes_, present, from_ms};
  Gpu gpu{.cluster = cluster,
          .node = description_.node,
          .uuid = uuid,
          .index = index,
          .model = description_.model,
          .memory_bytes = memory_bytes_,
          .mig_instances = {},
          .from = from_unix_ms(from_ms),
          .to = {},
          .id = {},
          .source = {}};
  for (const auto& [id, profile] : present) {
    gpu.mig_instances.push_back({GpuId(uuid.text() + "/gi" + id), profile});
  }
  return gpu;
}

void DiscoveredGpu::save(ByteWriter& writer) const {
  writer.text(description_.node.text()).signed_number(description_.index).text(description_.model);
  writer.signed_number(description_.since_ms).signed_number(first_ms_).signed_number(newest_ms_);
  writer.number(memory_bytes_ ? 1 : 0).number(memory_bytes_.value_or(0));
  writer.number(instances_.size());
  for (const auto& [id, instance] : instances_) {
    writer.text(id).text(instance.profile);
    writer.signed_number(instance.first_ms).signed_number(instance.newest_ms);
    writer.number(instance.is_gone ? 1 : 0);
  }
  writer.number(written_ ? 1 : 0);
  if (!written_) return;
  writer.text(written_->node).number(written_->index).text(written_->model);
  writer.number(written_->memory_bytes ? 1 : 0).number(written_->memory_bytes.value_or(0));
  writer.signed_number(written_->from_ms).number(written_->instances.size());
  for (const auto& [id, profile] : written_->instances) writer.text(id).text(profile);
}

bool DiscoveredGpu::load(ByteReader& reader) {
  description_.node = NodeId(std::string(reader.text()));
  description_.index = static_cast<std::int32_t>(reader.signed_number());
  description_.model = reader.text();
  description_.since_ms = reader.time();
  first_ms_ = reader.time();
  newest_ms_ = reader.time();
  const bool has_memory = reader.number() != 0;
  const std::uint64_t bytes = reader.number();
  if (has_memory) memory_bytes_ = bytes;
  const std::uint64_t instances = reader.count();
  for (std::uint64_t i = 0; i < instances && reader.ok(); ++i) {
    std::string id(reader.text());
    std::string profile(reader.text());
    const std::int64_t first_ms = reader.time();
    const std::int64_t newest_ms = reader.time();
    instances_[id] = {std::move(profile), first_ms, newest_ms, reader.number() != 0};
  }
  if (reader.number() == 0) return reader.ok();
  WrittenFact written;
  written.node = reader.text();
  written.index = static_cast<std::uint32_t>(reader.number());
  written.model = reader.text();
  const bool written_memory = reader.number() != 0;
  const std::uint64_t written_bytes = reader.number();
  if (written_memory) written.memory_bytes = written_bytes;
  written.from_ms = reader.time();
  const std::uint64_t written_instances = reader.count();
  for (std::uint64_t i = 0; i < written_instances && reader.ok(); ++i) {
    std::string id(reader.text());
    written.instances[id] = reader.text();
  }
  written_ = std::move(written);
  return reader.ok();
}

}  // namespace pennyweight::live
