// Rows out: which buckets are finished, and what their pieces come to. And what a snapshot keeps.
#include <algorithm>
#include <limits>
#include <tuple>

#include "live/lane.h"

namespace pennyweight::live {
namespace {

using telemetry::Quantity;

constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max() / 4;
constexpr std::uint64_t kWhole = 1'000'000;
// The exact SM activity of the cycle counters takes the place of the sampled one, while they come.
constexpr std::int64_t kCyclesFreshMs = 600'000;

std::int64_t floor_to(std::int64_t at, std::int64_t every) {
  return at < 0 ? 0 : at / every * every;
}

std::uint64_t mean_of(const Piece& piece) {
  const auto length = static_cast<std::uint64_t>(piece.to - piece.from);
  return static_cast<std::uint64_t>((piece.sum + length / 2) / length);
}

std::uint64_t whole(const Piece& piece) { return static_cast<std::uint64_t>(piece.sum); }

}  // namespace

void Lane::sort_by_time(std::vector<Part>& parts) {
  std::ranges::sort(parts, [](const Part& a, const Part& b) {
    return std::tie(a.piece.from, a.piece.to, a.quantity) <
           std::tie(b.piece.from, b.piece.to, b.quantity);
  });
}

// A device's bucket is finished when each of its series that goes on has passed its end, when the
// device is `grace` further, or when it is silent.
void Lane::collect(Group& group, std::int64_t now_ms, std::optional<std::int64_t> all_until,
                   std::vector<Part>& parts) {
  std::int64_t newest = -1;
  std::int64_t received_ms = started_ms_;
  std::int64_t hold_ms = 0;
  for (const std::uint32_t index : group.members) {
    const Member& member = members_[index];
    newest = std::max(newest, member.accumulator.last_at());
    received_ms = std::max(received_ms, std::int64_t{member.received_s} * 1000);
    hold_ms = std::max(hold_ms,
                       member.accumulator.hold_end(options_.timing) - member.accumulator.last_at());
  }
  const bool is_silent = !is_past_ && now_ms - received_ms >= options_.grace_ms + hold_ms;
  std::int64_t passed = newest;
  for (const std::uint32_t index : group.members) {
    const Accumulator& accumulator = members_[index].accumulator;
    const bool goes_on = accumulator.holds() && accumulator.hold_end(options_.timing) >= newest;
    if (goes_on) passed = std::min(passed, accumulator.settled_until());
  }
  const std::int64_t edge = options_.timing.resolution_ms;
  const std::int64_t until =
      all_until || is_silent
          ? kForever
          : std::max(floor_to(passed, edge), floor_to(newest - options_.grace_ms, edge));
  std::vector<Piece> pieces;
  for (const std::uint32_t index : group.members) {
    Member& member = members_[index];
    Accumulator& accumulator = member.accumulator;
    const std::int64_t hold_end = accumulator.hold_end(options_.timing);
    std::int64_t take_until = until;
    if (all_until) {
      accumulator.hold_until(*all_until, options_.timing);
    } else if (is_silent) {
      accumulator.hold_until(hold_end, options_.timing);
    } else if (hold_end <= newest) {
      accumulator.hold_until(until, options_.timing);
    } else if (accumulator.holds()) {  // its open bucket goes on
      take_until = std::min(until, floor_to(accumulator.settled_until(), edge));
    }
    pieces.clear();
    accumulator.finished(take_until, pieces);
    auto& told_until = group.components_until[static_cast<std::size_t>(member.quantity)];
    for (Piece& piece : pieces) {
      if (member.is_component && std::holds_alternative<DeviceHead>(group.head) &&
          piece.from < told_until) {
        ++count(Count::kLateComponents);
        continue;
      }
      if (piece.sum > 0 && member.code != 0) piece.last = member.code;
      parts.push_back({piece, member.quantity, member.is_component});
    }
  }
  for (const Part& part : parts) {
    auto& told_until = group.components_until[static_cast<std::size_t>(part.quantity)];
    if (part.is_component) told_until = std::max(told_until, part.piece.to);
  }
}

void Lane::drop_told(const Group& group, std::vector<Part>& parts) const {
  std::int64_t newest = -1;
  std::int64_t elapsed = -1;
  std::int64_t active = -1;
  for (const std::uint32_t index : group.members) {
    const std::int64_t last = members_[index].accumulator.last_at();
    newest = std::max(newest, last);
    if (members_[index].quantity == Quantity::kSmCyclesElapsed) elapsed = last;
    if (members_[index].quantity == Quantity::kSmCyclesActive) active = last;
  }
  if (elapsed < 0 || active < 0 || newest - std::min(elapsed, active) > kCyclesFreshMs) return;
  std::erase_if(parts, [](const Part& part) { return part.quantity == Quantity::kSmActive; });
}

// Components of one quantity whose times overlap become one part over the time that they cover
// together: where a container was not there it used nothing.
void Lane::add_up(std::vector<Part>& parts) {
  std::ranges::sort(parts, [](const Part& a, const Part& b) {
    return std::tie(a.quantity, a.piece.from, a.piece.to) <
           std::tie(b.quantity, b.piece.from, b.piece.to);
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Part& last = parts[kept == 0 ? 0 : kept - 1];
    const Part part = parts[i];
    if (kept > 0 && last.quantity == part.quantity && part.piece.from < last.piece.to) {
      last.piece.to = std::max(last.piece.to, part.piece.to);
      last.piece.sum += part.piece.sum;
      last.piece.max += part.piece.max;  // at most: they need not have been at once
      if (part.piece.last != 0) last.piece.last = part.piece.last;
    } else {
      parts[kept++] = part;
    }
  }
  parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(kept), parts.end());
  sort_by_time(parts);
}

void Lane::usages_of(const DeviceHead& head, std::span<const Part> parts,
                     const std::function<void(Usage&)>& give) {
  Usage usage = head.usage;
  for (std::size_t i = 0; i < parts.size();) {
    const std::int64_t from = parts[i].piece.from;
    const std::int64_t to = parts[i].piece.to;
    usage = head.usage;
    usage.at = from_unix_ms(from);
    usage.span_ms = static_cast<std::uint32_t>(to - from);
    std::array<std::optional<std::uint64_t>, 3> most;  // of engine, SM, GPU_UTIL
    std::optional<std::uint64_t> free;
    std::optional<std::uint64_t> cycles;
    std::optional<std::uint64_t> active_cycles;
    std::optional<std::uint64_t> sticky;
    bool any = false;
    for (; i < parts.size() && parts[i].piece.from == from && parts[i].piece.to == to; ++i) {
      const Piece& piece = parts[i].piece;
      const auto share = [&] { return std::min(mean_of(piece), kWhole); };
      bool is_column = true;
      switch (parts[i].quantity) {
        case Quantity::kGpuUtil:
          usage.gpu_util_ppm = share();
          most[2] = std::min(piece.max, kWhole);
          break;
        case Quantity::kEngineActive:
          usage.engine_active_ppm = share();
          most[0] = std::min(piece.max, kWhole);
          break;
        case Quantity::kSmActive:
          usage.sm_active_ppm = share();
          most[1] = std::min(piece.max, kWhole);
          break;
        case Quantity::kTensorActive:
          usage.tensor_active_ppm = share();
          break;
        case Quantity::kDramActive:
          usage.dram_active_ppm = share();
          break;
        case Quantity::kMemoryUsed:
          usage.memory_used_bytes = mean_of(piece);
          usage.memory_used_max_bytes = piece.max;
          break;
        case Quantity::kMemoryFree:
          free = mean_of(piece);
          is_column = false;
          break;
        case Quantity::kMemoryReserved:
          usage.memory_reserved_bytes = mean_of(piece);
          break;
        case Quantity::kMemoryTotal:
          usage.memory_total_bytes = mean_of(piece);
          break;
        case Quantity::kPower:
          usage.power_milliwatts = mean_of(piece);
          usage.power_max_milliwatts = piece.max;
          break;
        case Quantity::kEnergy:
          usage.energy_used_millijoules = whole(piece);
          break;
        case Quantity::kTemperature:
          usage.temperature_celsius = mean_of(piece);
          break;
        case Quantity::kSmClock:
          usage.sm_clock_mhz = mean_of(piece);
          break;
        case Quantity::kThrottle:
          usage.throttled_ms = whole(piece);
          break;
        case Quantity::kPcie:
          usage.pcie_bytes_per_second = mean_of(piece);
          break;
        case Quantity::kNvlink:
          usage.nvlink_bytes_per_second = mean_of(piece);
          break;
        case Quantity::kXid:
          sticky = whole(piece);
          if (piece.last != 0) usage.last_xid = piece.last;
          break;
        case Quantity::kXidCount:
          usage.xid_errors = whole(piece);
          if (piece.last != 0 && !usage.last_xid) usage.last_xid = piece.last;
          break;
        case Quantity::kEccErrors:
          usage.ecc_errors = whole(piece);
          break;
        case Quantity::kSmCyclesElapsed:
          cycles = whole(piece);
          is_column = false;
          break;
        case Quantity::kSmCyclesActive:
          active_cycles = whole(piece);
          is_column = false;
          break;
      }
      any |= is_column;
    }
    if (!usage.xid_errors) usage.xid_errors = sticky;
    if (cycles && active_cycles && *cycles > 0) {
      const UInt128 scaled = UInt128{*active_cycles} * kWhole + *cycles / 2;
      usage.sm_active_ppm = std::min(static_cast<std::uint64_t>(scaled / *cycles), kWhole);
      most[1] = usage.sm_active_ppm;
      any = true;
    }
    // Without what is reserved, the sum is less than the card has.
    if (!usage.memory_total_bytes && usage.memory_used_bytes && usage.memory_reserved_bytes &&
        free) {
      usage.memory_total_bytes = *usage.memory_used_bytes + *free + *usage.memory_reserved_bytes;
    }
    for (const auto& share : most) {
      if (!usage.activity_max_ppm) usage.activity_max_ppm = share;
    }
    if (any) give(usage);
  }
}

void Lane::finish_outcomes(const OutcomeHead& head, std::span<const Part> parts, const PartOf& part,
                           Rows& rows) {
  Writer writer;
  for (std::size_t i = 0; i < parts.size();) {
    const Piece& first = parts[i].piece;
    Outcome outcome(head.cluster, head.workload, head.measure,
                    Interval(from_unix_ms(first.from), from_unix_ms(first.to)), 0);
    outcome.labels = head.labels;
    for (; i < parts.size() && parts[i].piece.from == first.from && parts[i].piece.to == first.to;
         ++i) {
      outcome.count += whole(parts[i].piece);
    }
    outcome.part = part(natural_key(outcome));
    save_outcome(writer, outcome);
    ++rows.outcomes;
  }
  rows.outcome_bytes += writer.bytes();
}

bool Lane::finish(std::int64_t now_ms, std::optional<std::int64_t> all_until, const PartOf& part,
                  Rows& rows, std::string* recent) {
  std::vector<Part> parts;
  Writer writer;
  bool all_told = true;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Group& group = groups_[(next_group_ + i) % groups_.size()];
    if (!group.is_used) continue;
    if (const auto* head = std::get_if<DeviceHead>(&group.head)) see_card(group, *head);
    if (rows.usages + rows.outcomes >= options_.limits.rows_of_flush) {
      if (all_told) next_group_ = static_cast<std::uint32_t>((next_group_ + i) % groups_.size());
      all_told = false;
      continue;
    }
    parts.clear();
    collect(group, now_ms, all_until, parts);
    if (const auto* outcome = std::get_if<OutcomeHead>(&group.head)) {
      sort_by_time(parts);
      finish_outcomes(*outcome, parts, part, rows);
      continue;
    }
    drop_told(group, parts);
    add_up(parts);
    usages_of(std::get<DeviceHead>(group.head), parts, [&](Usage& usage) {
      usage.part = part(natural_key(usage));
      const std::size_t begin = writer.bytes().size();
      save_usage(writer, usage);
      ++rows.usages;
      if (recent != nullptr && unix_ms(usage.at) >= now_ms - kRecentMs) {
        recent->append(writer.bytes(), begin);
      }
    });
  }
  if (rows.usage_bytes.empty()) {
    rows.usage_bytes = writer.take();
  } else {
    rows.usage_bytes += writer.bytes();
  }
  see_cards(rows);
  count_pieces();
  return all_told;
}

void Lane::count_pieces() {
  pieces_ = 0;
  for (const Member& member : members_) {
    if (member.is_used) pieces_ += member.accumulator.waiting();
  }
}

void Lane::see_card(const Group& group, const DeviceHead& head) {
  if (head.usage.gpu.empty()) return;
  std::int64_t newest = -1;
  std::optional<std::uint64_t> total;
  std::uint64_t used = 0;
  std::uint64_t free = 0;
  std::optional<std::uint64_t> reserved;
  for (const std::uint32_t index : group.members) {
    const Accumulator& accumulator = members_[index].accumulator;
    if (!accumulator.has_sample()) continue;
    newest = std::max(newest, accumulator.last_at());
    switch (members_[index].quantity) {
      case Quantity::kMemoryTotal:
        total = accumulator.last_value();
        break;
      case Quantity::kMemoryUsed:
        used += accumulator.last_value();
        break;
      case Quantity::kMemoryFree:
        free += accumulator.last_value();
        break;
      case Quantity::kMemoryReserved:
        reserved = accumulator.last_value();
        break;
      default:
        break;
    }
  }
  if (newest < 0) return;
  Card& card = cards_[{head.usage.cluster, head.usage.gpu}];
  card.seen(group.first_at, newest);
  card.looks({head.usage.node, head.gpu_index, head.usage.model, group.changed_at});
  if (!head.usage.mig_instance.empty()) {
    card.has_instance(head.usage.mig_instance, head.usage.mig_profile, group.first_at, newest);
  } else if (!head.usage.of_workload) {
    if (!total && used > 0 && free > 0 && reserved) total = used + free + *reserved;
    if (total && *total > 0) card.has_memory(*total);
  }
}

void Lane::see_cards(Rows& rows) {
  Writer writer;
  for (auto& [key, card] : cards_) {
    const auto gpu = card.next(key.first, key.second, options_.timing.resolution_ms);
    if (!gpu) continue;
    save_gpu(writer, *gpu);
    ++rows.gpus;
  }
  rows.gpu_bytes += writer.bytes();
}

void Lane::provisional(const ClusterId& cluster, std::int64_t since_ms, std::int64_t now_ms,
                       std::vector<Usage>& usages) const {
  std::vector<Part> parts;
  std::vector<Piece> pieces;
  for (const Group& group : groups_) {
    const auto* const head = std::get_if<DeviceHead>(&group.head);
    if (!group.is_used || head == nullptr || head->usage.cluster != cluster) continue;
    parts.clear();
    for (const std::uint32_t index : group.members) {
      const Member& member = members_[index];
      pieces.clear();
      Accumulator as_of_now = member.accumulator;
      if (as_of_now.holds()) as_of_now.hold_until(now_ms, options_.timing);
      as_of_now.all(pieces);
      for (const Piece& piece : pieces) {
        if (piece.from >= since_ms) parts.push_back({piece, member.quantity, member.is_component});
      }
    }
    drop_told(group, parts);
    add_up(parts);
    usages_of(*head, parts, [&](Usage& usage) { usages.push_back(usage); });
  }
}

void Lane::save(Writer& writer) const {
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
    for (const std::int64_t until : group.components_until) writer.signed_number(until);
    if (const auto* head = std::get_if<DeviceHead>(&group.head)) {
      writer.number(0).signed_number(head->gpu_index);
      save_usage(writer, head->usage);
    } else {
      const auto& outcome = std::get<OutcomeHead>(group.head);
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
    writer.number(place[member.group]).number(member.received_s).number(member.source);
    writer.number(member.told_by).signed_number(member.other_at);
    writer.number(static_cast<std::uint64_t>(member.quantity));
    writer.number(member.is_component ? 1 : 0).number(member.code).number(member.last_key);
    member.accumulator.save(writer);
  }
  writer.number(forgotten_.size());
  forgotten_.for_each([&](const Hash128& identity, std::int64_t last) {
    writer.number(identity.high).number(identity.low).signed_number(last);
  });
  writer.number(cards_.size());
  for (const auto& [key, card] : cards_) {
    writer.text(key.first.text()).text(key.second.text());
    card.save(writer);
  }
}

bool Lane::load(Reader& reader) {
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
    std::array<std::int64_t, telemetry::kQuantities> until;
    for (std::int64_t& at : until) at = reader.time();
    if (group_by_identity_.find(identity) != nullptr) reader.fail();
    if (reader.number() == 0) {
      const auto index = static_cast<std::int32_t>(reader.signed_number());
      auto usage = load_usage(reader);
      if (!usage) return false;
      add_group(identity, DeviceHead{std::move(*usage), index}, first_at);
    } else {
      auto outcome = load_outcome(reader);
      if (!outcome) return false;
      add_group(identity,
                OutcomeHead{std::move(outcome->cluster), std::move(outcome->workload),
                            std::move(outcome->measure), std::move(outcome->labels)},
                first_at);
    }
    groups_.back().changed_at = changed_at;
    groups_.back().components_until = until;
  }
  const std::uint64_t members = reader.count();
  for (std::uint64_t i = 0; i < members && reader.ok(); ++i) {
    const Hash128 identity = hash();
    const std::uint64_t group = reader.number();
    const std::uint64_t received_s = reader.number();
    const std::uint64_t source = reader.number();
    const std::uint64_t told_by = reader.number();
    const std::int64_t other_at = reader.time();
    const std::uint64_t quantity = reader.number();
    if (!reader.ok() || group >= groups_.size() || received_s > UINT32_MAX || source > UINT16_MAX ||
        quantity >= telemetry::kQuantities || member_by_identity_.find(identity) != nullptr) {
      return false;
    }
    const bool is_outcome = std::holds_alternative<OutcomeHead>(groups_[group].head);
    const std::uint32_t index = member_of(identity, static_cast<Quantity>(quantity), is_outcome,
                                          static_cast<std::uint32_t>(group), {});
    Member& member = members_[index];
    member.received_s = static_cast<std::uint32_t>(received_s);
    member.source = static_cast<std::uint16_t>(source);
    member.told_by = static_cast<std::uint16_t>(told_by);
    member.other_at = other_at;
    member.is_component = reader.number() != 0;
    member.code = static_cast<std::uint32_t>(reader.number());
    member.last_key = reader.number();
    if (!member.accumulator.load(reader)) return false;
    const Hash128 key{0, member.last_key};
    if (loaded_keys_.find(key) == nullptr) loaded_keys_.add(key, index);
  }
  count_pieces();
  const std::uint64_t forgotten = reader.count();
  for (std::uint64_t i = 0; i < forgotten && reader.ok(); ++i) {
    const Hash128 identity = hash();
    const std::int64_t last = reader.time();
    if (forgotten_.find(identity) == nullptr) forgotten_.add(identity, last);
  }
  const std::uint64_t cards = reader.count();
  for (std::uint64_t i = 0; i < cards && reader.ok(); ++i) {
    ClusterId cluster{std::string(reader.text())};
    GpuId gpu{std::string(reader.text())};
    if (!cards_[{std::move(cluster), std::move(gpu)}].load(reader)) return false;
  }
  return reader.ok();
}

}  // namespace pennyweight::live
