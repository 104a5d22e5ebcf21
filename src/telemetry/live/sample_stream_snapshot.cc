// A stream as a part of the engine's snapshot.
#include <array>

#include "telemetry/live/sample_stream.h"

namespace pennyweight::live {

void SampleStream::save(ByteWriter& writer) const {
  writer.signed_number(now_ms_).signed_number(floor_ms_);
  writer.number(sources_.size());
  for (const std::string& source : sources_) writer.text(source);
  std::vector<std::uint32_t> place(groups_.size());  // of a group among those that are used
  std::uint32_t used = 0;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].is_used) place[i] = used++;
  }
  writer.number(used);
  for (const Group& group : groups_) {
    if (!group.is_used) continue;
    writer.number(group.identity.high).number(group.identity.low);
    writer.signed_number(group.first_at).signed_number(group.changed_at);
    writer.signed_number(group.unordered_until);
    for (const std::int64_t until : group.components_until) writer.signed_number(until);
    if (const auto* info = std::get_if<DeviceInfo>(&group.info)) {
      writer.number(0).signed_number(info->gpu_index);
      save_usage(writer, info->usage);
    } else {
      const auto& outcome = std::get<OutcomeInfo>(group.info);
      Outcome as_fact(outcome.cluster, outcome.workload, outcome.measure,
                      Interval(from_unix_ms(0), from_unix_ms(1)), 0);
      as_fact.labels = outcome.labels;
      writer.number(1);
      save_outcome(writer, as_fact);
    }
  }
  writer.number(accumulators());
  for (const Member& member : members_) {
    if (!member.is_used) continue;
    writer.number(member.identity.high).number(member.identity.low);
    // Of live samples, what came since the last flush is written as it came.
    const Progress& progress = is_past_ ? member : member.committed;
    writer.number(place[member.group]).number(member.received_s).number(progress.source);
    writer.number(progress.last_source).signed_number(progress.other_source_at);
    writer.number(static_cast<std::uint64_t>(member.quantity));
    writer.number(member.is_component ? 1 : 0).number(member.code).number(progress.last_key);
    progress.accumulator.save(writer);
    writer.number(member.origins.size());
    for (const Origin& origin : member.origins) writer.number(origin.key).number(origin.source);
    writer.number(member.unordered.size());
    std::int64_t at_ms = 0;
    for (const Unordered& sample : member.unordered) {
      writer.signed_number(sample.at_ms - at_ms).number(sample.value).number(sample.origin);
      writer.number((sample.is_end ? 1U : 0U) + (sample.is_counted ? 2U : 0U) +
                    (sample.was_applied ? 4U : 0U));
      at_ms = sample.at_ms;
    }
    writer.number(member.taken_ms.size());
    for (const std::uint32_t at : member.taken_ms) writer.number(at);
  }
  writer.number(forgotten_.size());
  forgotten_.for_each([&](const Hash128& identity, std::int64_t last) {
    writer.number(identity.high).number(identity.low).signed_number(last);
  });
  writer.number(discovered_gpus_.size());
  for (const auto& [key, discovered] : discovered_gpus_) {
    writer.text(key.first.text()).text(key.second.text());
    discovered.save(writer);
  }
}

bool SampleStream::load_unordered(ByteReader& reader, Member& member) {
  const std::uint64_t origins = reader.count();
  for (std::uint64_t i = 0; i < origins && reader.ok(); ++i) {
    const std::uint64_t key = reader.number();
    const std::uint64_t source = reader.number();
    if (source > UINT16_MAX) return false;
    member.origins.push_back({key, static_cast<std::uint16_t>(source)});
  }
  const std::uint64_t samples = reader.count();
  std::int64_t at_ms = 0;
  for (std::uint64_t i = 0; i < samples && reader.ok(); ++i) {
    const std::int64_t step = reader.signed_number();
    if (step < 0 || step > unix_ms(kInstantMax) - at_ms) return false;
    at_ms += step;
    Unordered sample{.at_ms = at_ms, .value = reader.number()};
    const std::uint64_t origin = reader.number(), flags = reader.number();
    if (origin >= member.origins.size() || flags > 7) return false;
    sample.origin = static_cast<std::uint32_t>(origin);
    sample.is_end = (flags & 1) != 0;
    sample.is_counted = (flags & 2) != 0;
    sample.was_applied = (flags & 4) != 0;
    member.unordered.push_back(sample);
  }
  member.is_behind = !member.unordered.empty();
  const std::uint64_t taken = reader.count();
  for (std::uint64_t i = 0; i < taken && reader.ok(); ++i) {
    member.taken_ms.push_back(static_cast<std::uint32_t>(reader.number()));
  }
  return reader.ok();
}

bool SampleStream::load(ByteReader& reader, bool has_unordered) {
  const auto hash = [&] {
    const std::uint64_t high = reader.number();
    return Hash128{high, reader.number()};
  };
  now_ms_ = reader.time();
  floor_ms_ = reader.time();
  const std::uint64_t sources = reader.count();
  for (std::uint64_t i = 0; i < sources; ++i) sources_.emplace_back(reader.text());
  const std::uint64_t groups = reader.count();
  for (std::uint64_t i = 0; i < groups && reader.ok(); ++i) {
    const Hash128 identity = hash();
    const std::int64_t first_at = reader.time();
    const std::int64_t changed_at = reader.time();
    const std::int64_t unordered_until = has_unordered ? reader.time() : 0;
    std::array<std::int64_t, telemetry::kQuantities> until;
    for (std::int64_t& at : until) at = reader.time();
    if (group_by_identity_.find(identity) != nullptr) reader.fail();
    if (reader.number() == 0) {
      const auto index = static_cast<std::int32_t>(reader.signed_number());
      auto usage = load_usage(reader);
      if (!usage) return false;
      add_group(identity, DeviceInfo{std::move(*usage), index}, first_at);
    } else {
      auto outcome = load_outcome(reader);
      if (!outcome) return false;
      add_group(identity,
                OutcomeInfo{std::move(outcome->cluster), std::move(outcome->workload),
                            std::move(outcome->measure), std::move(outcome->labels)},
                first_at);
    }
    groups_.back().changed_at = changed_at;
    groups_.back().unordered_until = unordered_until;
    groups_.back().components_until = until;
  }
  const std::uint64_t members = reader.count();
  for (std::uint64_t i = 0; i < members && reader.ok(); ++i) {
    const Hash128 identity = hash();
    const std::uint64_t group = reader.number();
    const std::uint64_t received_s = reader.number();
    const std::uint64_t source = reader.number();
    const std::uint64_t last_source = reader.number();
    const std::int64_t other_source_at = reader.time();
    const std::uint64_t quantity = reader.number();
    if (!reader.ok() || group >= groups_.size() || received_s > UINT32_MAX || source > UINT16_MAX ||
        quantity >= telemetry::kQuantities || member_by_identity_.find(identity) != nullptr) {
      return false;
    }
    const bool is_outcome = std::holds_alternative<OutcomeInfo>(groups_[group].info);
    const std::uint32_t index =
        find_or_add_member(identity, static_cast<telemetry::Quantity>(quantity), is_outcome,
                           static_cast<std::uint32_t>(group), {});
    Member& member = members_[index];
    member.received_s = static_cast<std::uint32_t>(received_s);
    member.source = static_cast<std::uint16_t>(source);
    member.last_source = static_cast<std::uint16_t>(last_source);
    member.other_source_at = other_source_at;
    member.is_component = reader.number() != 0;
    member.code = static_cast<std::uint32_t>(reader.number());
    member.last_key = reader.number();
    if (!member.accumulator.load(reader)) return false;
    member.committed = member;
    if (has_unordered && !load_unordered(reader, member)) return false;
    const Hash128 key{0, member.last_key};
    if (loaded_keys_.find(key) == nullptr) loaded_keys_.add(key, index);
  }
  count_what_waits();
  const std::uint64_t forgotten = reader.count();
  for (std::uint64_t i = 0; i < forgotten && reader.ok(); ++i) {
    const Hash128 identity = hash();
    const std::int64_t last = reader.time();
    if (forgotten_.find(identity) == nullptr) forgotten_.add(identity, last);
  }
  const std::uint64_t gpus = reader.count();
  for (std::uint64_t i = 0; i < gpus && reader.ok(); ++i) {
    ClusterId cluster{std::string(reader.text())};
    GpuId gpu{std::string(reader.text())};
    if (!discovered_gpus_[{std::move(cluster), std::move(gpu)}].load(reader)) return false;
  }
  return reader.ok();
}

}  // namespace pennyweight::live
