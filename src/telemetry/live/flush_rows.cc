#include "telemetry/live/flush_rows.h"

#include <optional>

#include "core/try.h"
#include "ledger/usage.h"

namespace pennyweight::live {
namespace {

// A usage's numbers are those of kUsageNumbers, whose indexes are the bits of the mask.
static_assert(kUsageNumbers.size() <= 64);

std::optional<Instant> load_instant(ByteReader& reader) {
  const std::int64_t ms = reader.signed_number();
  const Instant at = from_unix_ms(ms);
  if (!reader.ok() || at < kInstantMin || at > kInstantMax) return std::nullopt;
  return at;
}

std::optional<Gpu> load_gpu(ByteReader& reader) {
  const auto text = [&] { return std::string(reader.text()); };
  Gpu gpu{.cluster = ClusterId(text()),
          .node = NodeId(text()),
          .uuid = GpuId(text()),
          .index = static_cast<std::uint32_t>(reader.number()),
          .model = text(),
          .memory_bytes = {},
          .mig_instances = {},
          .from = {},
          .to = {},
          .id = {},
          .source = {}};
  if (reader.number() != 0) gpu.memory_bytes = reader.number();
  const std::uint64_t instances = reader.count();
  for (std::uint64_t i = 0; i < instances && reader.ok(); ++i) {
    GpuId id(text());
    gpu.mig_instances.push_back({std::move(id), text()});
  }
  const auto from = load_instant(reader);
  if (!from || !reader.ok()) return std::nullopt;
  gpu.from = *from;
  return gpu;
}

template <class Fact>
Result<void> read_all(const std::string& bytes, std::uint64_t count, const FactSink<Fact>& sink,
                      std::optional<Fact> (*load)(ByteReader&)) {
  ByteReader reader(bytes);
  FactBatch<Fact> batch(sink);
  while (!reader.at_end()) {
    auto fact = load(reader);
    if (!fact) {
      return fail(ErrorCode::kBadFile,
                  "rows of the snapshot of live data can't be read; move the "
                  "file away and backfill the time since the last flush");
    }
    TRY(batch.add(std::move(*fact)));
  }
  if (batch.count() != count) {
    return fail(ErrorCode::kBadFile,
                "the snapshot of live data does not have as many rows as "
                "it says");
  }
  return batch.flush();
}

}  // namespace

std::optional<Usage> load_usage(ByteReader& reader) {
  const auto text = [&] { return std::string(reader.text()); };
  Usage usage{.cluster = ClusterId(text()),
              .node = NodeId(text()),
              .gpu = GpuId(text()),
              .mig_instance = text(),
              .mig_profile = text(),
              .model = text(),
              .at = {},
              .gpu_util_ppm = {},
              .engine_active_ppm = {},
              .sm_active_ppm = {},
              .memory_used_bytes = {},
              .memory_total_bytes = {},
              .power_milliwatts = {},
              .energy_millijoules = {},
              .workload = WorkloadId(text()),
              .of_workload = reader.number() != 0,
              .id = {},
              .source = {}};
  const auto at = load_instant(reader);
  const std::uint64_t span = reader.number();
  usage.part = reader.number();
  const std::uint64_t mask = reader.number();
  for (std::size_t i = 0; i < kUsageNumbers.size(); ++i) {
    if ((mask >> i & 1) != 0) usage.*kUsageNumbers[i].field = reader.number();
  }
  if (!reader.ok() || !at || span > UINT32_MAX || mask >> kUsageNumbers.size() != 0)
    return std::nullopt;
  usage.at = *at;
  usage.span_ms = static_cast<std::uint32_t>(span);
  return usage;
}

std::optional<Outcome> load_outcome(ByteReader& reader) {
  ClusterId cluster{std::string(reader.text())};
  WorkloadId workload{std::string(reader.text())};
  std::string measure(reader.text());
  Labels labels;
  const std::uint64_t entries = reader.count();
  for (std::uint64_t i = 0; i < entries && reader.ok(); ++i) {
    const std::string_view key = reader.text();
    if (!labels.set(key, reader.text())) return std::nullopt;
  }
  const auto from = load_instant(reader);
  const auto to = load_instant(reader);
  const std::uint64_t count = reader.number();
  const std::uint64_t part = reader.number();
  if (!reader.ok() || !from || !to) return std::nullopt;
  const auto during = Interval::of(*from, *to);
  if (!during) return std::nullopt;
  Outcome outcome(std::move(cluster), std::move(workload), std::move(measure), *during, count);
  outcome.labels = std::move(labels);
  outcome.part = part;
  return outcome;
}

void save_usage(ByteWriter& writer, const Usage& usage) {
  writer.text(usage.cluster.text()).text(usage.node.text()).text(usage.gpu.text());
  writer.text(usage.mig_instance).text(usage.mig_profile).text(usage.model);
  writer.text(usage.workload.text()).number(usage.of_workload ? 1 : 0);
  writer.signed_number(unix_ms(usage.at)).number(usage.span_ms).number(usage.part);
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < kUsageNumbers.size(); ++i) {
    if (usage.*kUsageNumbers[i].field) mask |= std::uint64_t{1} << i;
  }
  writer.number(mask);
  for (const UsageNumber& number : kUsageNumbers) {
    if (const auto& value = usage.*number.field) writer.number(*value);
  }
}

void save_gpu(ByteWriter& writer, const Gpu& gpu) {
  writer.text(gpu.cluster.text()).text(gpu.node.text()).text(gpu.uuid.text()).number(gpu.index);
  writer.text(gpu.model).number(gpu.memory_bytes ? 1 : 0);
  if (gpu.memory_bytes) writer.number(*gpu.memory_bytes);
  writer.number(gpu.mig_instances.size());
  for (const MigInstance& instance : gpu.mig_instances) {
    writer.text(instance.id.text()).text(instance.profile);
  }
  writer.signed_number(unix_ms(gpu.from));
}

void save_outcome(ByteWriter& writer, const Outcome& outcome) {
  writer.text(outcome.cluster.text()).text(outcome.workload.text()).text(outcome.measure);
  writer.number(outcome.labels.entries().size());
  for (const auto& [key, value] : outcome.labels.entries()) writer.text(key).text(value);
  writer.signed_number(unix_ms(outcome.during.begin()));
  writer.signed_number(unix_ms(outcome.during.end()));
  writer.number(outcome.count).number(outcome.part);
}

Result<void> FlushRows::read(const RowSinks& sinks) const {
  TRY(read_all<Gpu>(gpu_bytes, gpus, sinks.gpus, load_gpu));
  TRY(read_all<Usage>(usage_bytes, usages, sinks.usages, load_usage));
  return read_all<Outcome>(outcome_bytes, outcomes, sinks.outcomes, load_outcome);
}

void FlushRows::save(ByteWriter& writer) const {
  writer.number(flush).number(usages).number(gpus).number(outcomes);
  writer.text(usage_bytes).text(gpu_bytes).text(outcome_bytes);
}

bool FlushRows::load(ByteReader& reader) {
  flush = reader.number();
  usages = reader.number();
  gpus = reader.number();
  outcomes = reader.number();
  usage_bytes = reader.text();
  gpu_bytes = reader.text();
  outcome_bytes = reader.text();
  return reader.ok();
}

}  // namespace pennyweight::live
