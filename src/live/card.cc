#include "live/card.h"

#include <algorithm>

namespace pennyweight::live {

void Card::looks(Looks looks) {
  const bool is_other =
      looks.node != looks_.node || looks.index != looks_.index || looks.model != looks_.model;
  if (is_other && looks.since_ms >= looks_.since_ms) looks_ = std::move(looks);
}

void Card::seen(std::int64_t first_ms, std::int64_t newest_ms) {
  if (first_ms_ < 0 || first_ms < first_ms_) first_ms_ = first_ms;
  newest_ms_ = std::max(newest_ms_, newest_ms);
}

void Card::has_instance(const std::string& id, const std::string& profile, std::int64_t first_ms,
                        std::int64_t newest_ms) {
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

std::optional<Gpu> Card::next(const ClusterId& cluster, const GpuId& uuid,
                              std::int64_t resolution_ms) {
  if (first_ms_ < 0 || newest_ms_ - first_ms_ < 2 * resolution_ms) return std::nullopt;
  // Instances of which nothing came for so long are gone.
  const std::int64_t gone_ms = std::max<std::int64_t>(2 * resolution_ms, 90'000);
  std::map<std::string, std::string> present;
  std::int64_t latest_ms = 0;  // when the last of them came
  std::int64_t left_ms = 0;    // when the last one went
  for (auto& [id, instance] : instances_) {
    if (newest_ms_ - instance.newest_ms > gone_ms) {
      instance.is_gone = true;
      if (told_ && told_->instances.contains(id)) left_ms = std::max(left_ms, instance.newest_ms);
      continue;
    }
    present[id] = instance.profile;
    const bool is_told =
        told_ && told_->instances.contains(id) && told_->instances.at(id) == instance.profile;
    if (!is_told) latest_ms = std::max(latest_ms, instance.first_ms);
  }
  // Others may still be on their way.
  if (latest_ms > 0 && newest_ms_ - latest_ms < resolution_ms) return std::nullopt;
  const auto index = static_cast<std::uint32_t>(std::max(looks_.index, 0));
  std::int64_t from_ms = first_ms_;
  if (told_) {
    const bool looks_other =
        told_->node != looks_.node.text() || told_->index != index || told_->model != looks_.model;
    const bool layout_other = told_->instances != present;
    const bool memory_other = !told_->memory_bytes && memory_bytes_;
    if (!looks_other && !layout_other && !memory_other) return std::nullopt;
    from_ms = told_->from_ms + 1;
    if (looks_other) from_ms = std::max(from_ms, looks_.since_ms);
    if (layout_other) from_ms = std::max(from_ms, latest_ms > 0 ? latest_ms : left_ms + 1);
  }
  told_ = Told{looks_.node.text(), index, looks_.model, memory_bytes_, present, from_ms};
  Gpu gpu{.cluster = cluster,
          .node = looks_.node,
          .uuid = uuid,
          .index = index,
          .model = looks_.model,
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

void Card::save(Writer& writer) const {
  writer.text(looks_.node.text()).signed_number(looks_.index).text(looks_.model);
  writer.signed_number(looks_.since_ms).signed_number(first_ms_).signed_number(newest_ms_);
  writer.number(memory_bytes_ ? 1 : 0).number(memory_bytes_.value_or(0));
  writer.number(instances_.size());
  for (const auto& [id, instance] : instances_) {
    writer.text(id).text(instance.profile);
    writer.signed_number(instance.first_ms).signed_number(instance.newest_ms);
    writer.number(instance.is_gone ? 1 : 0);
  }
  writer.number(told_ ? 1 : 0);
  if (!told_) return;
  writer.text(told_->node).number(told_->index).text(told_->model);
  writer.number(told_->memory_bytes ? 1 : 0).number(told_->memory_bytes.value_or(0));
  writer.signed_number(told_->from_ms).number(told_->instances.size());
  for (const auto& [id, profile] : told_->instances) writer.text(id).text(profile);
}

bool Card::load(Reader& reader) {
  looks_.node = NodeId(std::string(reader.text()));
  looks_.index = static_cast<std::int32_t>(reader.signed_number());
  looks_.model = reader.text();
  looks_.since_ms = reader.time();
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
  Told told;
  told.node = reader.text();
  told.index = static_cast<std::uint32_t>(reader.number());
  told.model = reader.text();
  const bool told_memory = reader.number() != 0;
  const std::uint64_t told_bytes = reader.number();
  if (told_memory) told.memory_bytes = told_bytes;
  told.from_ms = reader.time();
  const std::uint64_t told_instances = reader.count();
  for (std::uint64_t i = 0; i < told_instances && reader.ok(); ++i) {
    std::string id(reader.text());
    told.instances[id] = reader.text();
  }
  told_ = std::move(told);
  return reader.ok();
}

}  // namespace pennyweight::live
