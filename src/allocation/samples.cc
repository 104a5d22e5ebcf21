#include "allocation/samples.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "allocation/gpu_layouts.h"
#include "allocation/utilization.h"
#include "core/card_share.h"
#include "core/check.h"
#include "core/gpu/gpu_model.h"
#include "core/gpu/mig_utilisation.h"

namespace pennyweight {
namespace {

constexpr std::int64_t kEver = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kPpmOfAll = 1'000'000;

// What is known of a GPU over [from, to).
struct Layout {
  std::int64_t from;
  std::int64_t to;
  const Gpu* gpu;
};

// The layouts of each GPU, one after the other. Telemetry readers state a GPU once for each file,
// so equal neighbours are merged.
class Layouts {
 public:
  explicit Layouts(std::span<const Gpu> gpus) {
    for (const GpuInForce& each : layouts_in_force(gpus)) {
      if (!each.during) continue;
      add({unix_ms(each.during->begin()), unix_ms(each.during->end()), each.gpu});
    }
  }

  std::span<const Layout> of(const GpuId& uuid) const {
    const auto found = std::ranges::equal_range(
        all_, uuid, {}, [](const Layout& layout) -> const GpuId& { return layout.gpu->uuid; });
    return {found.begin(), found.end()};
  }

 private:
  void add(const Layout& layout) {
    if (!all_.empty()) {
      Layout& last = all_.back();
      const Gpu& a = *last.gpu;
      const Gpu& b = *layout.gpu;
      if (a.uuid == b.uuid && last.to == layout.from && a.model == b.model &&
          a.memory_bytes == b.memory_bytes && a.mig_instances == b.mig_instances) {
        last.to = layout.to;
        return;
      }
    }
    all_.push_back(layout);
  }

  std::vector<Layout> all_;  // by UUID, then from
};

// Whether compute of this MIG instance is unreliable (core/gpu/mig_utilisation.h).
bool is_unreliable(const GpuModel* model, const Gpu* layout) {
  if (model == nullptr || layout == nullptr) return false;
  std::vector<std::string> profiles;
  for (const MigInstance& instance : layout->mig_instances) profiles.push_back(instance.profile);
  return mig_profiling_unreliable(*model, profiles);
}

// The device of a row, as the layout names it.
std::string device_of(const Usage& usage, const Gpu* layout) {
  if (usage.mig_instance.empty()) return usage.gpu.text();
  std::string name = usage.gpu.text() + "/gi" + usage.mig_instance;
  if (layout == nullptr) return name;
  const MigInstance* alike = nullptr;
  std::size_t alikes = 0;
  for (const MigInstance& instance : layout->mig_instances) {
    if (instance.id.text() == name) return name;
    if (instance.profile == usage.mig_profile) {
      alike = &instance;
      ++alikes;
    }
  }
  return alikes == 1 ? alike->id.text() : name;
}

// Memory of the device in bytes; 0: unknown.
std::uint64_t memory_of(const Usage& usage, const Gpu* layout, const GpuModel* model) {
  std::uint64_t card = model != nullptr ? model->memory_bytes : 0;
  if (layout != nullptr && layout->memory_bytes) card = *layout->memory_bytes;
  if (usage.mig_instance.empty()) return card;
  if (model == nullptr) return 0;
  const auto share = find_mig_share(*model, usage.mig_profile);
  if (!share) return 0;
  return static_cast<std::uint64_t>(UInt128{card} * share->memory.units() /
                                    CardShare::kUnitsPerCard);
}

// Whether two rows differ in nothing but time and values.
bool of_one_series(const Usage& a, const Usage& b) {
  return a.gpu == b.gpu && a.workload == b.workload && a.mig_instance == b.mig_instance &&
         a.mig_profile == b.mig_profile && a.of_workload == b.of_workload;
}

struct SeriesHash {
  std::size_t operator()(const Usage* usage) const {
    const std::hash<std::string> hash;
    std::size_t mixed = hash(usage->gpu.text());
    for (const std::string* text :
         {&usage->workload.text(), &usage->mig_instance, &usage->mig_profile}) {
      mixed = mixed * 0x9E3779B97F4A7C15u + hash(*text);
    }
    return mixed * 2 + (usage->of_workload ? 1 : 0);
  }
};
struct SeriesEqual {
  bool operator()(const Usage* a, const Usage* b) const { return of_one_series(*a, *b); }
};

// Rows that differ in nothing but time and values, and how to read them under one layout of the
// GPU.
struct Source {
  const Usage* like;            // one of them
  std::uint32_t next;           // the source whose row followed this one's the last time
  std::int64_t from = 0;        // the fields below hold for times in [from, to)
  std::int64_t to = 0;          // and
  bool any_model = true;        // for any model in the row, or
  std::string_view model = {};  // for this one
  std::uint32_t series = 0;     // index
  std::uint64_t memory = 0;     // of the device, in bytes; 0: unknown
  bool has_util = true;         // whether GPU_UTIL means anything
  bool unreliable = false;      // whether compute is unreliable
};

class Reader {
 public:
  Reader(std::span<const Gpu> gpus, const UsageRules& rules, const Interval& during)
      : layouts_(gpus),
        rules_(rules),
        util_counts_(std::ranges::find(rules.activity, UsageRules::Activity::kGpuUtil) !=
                     rules.activity.end()),
        first_(unix_ms(during.begin())),
        begin_(first_ - static_cast<std::int64_t>(rules.hold_ms())),
        end_(unix_ms(during.end())) {}

  SampledDevices read(std::span<const Usage> usages) && {
    rows_.reserve(usages.size());
    for (const Usage& usage : usages) {
      const std::int64_t at = unix_ms(usage.at) + rules_.shift_ms;
      if (at >= end_) continue;
      if (usage.span_ms == 0 ? at > begin_ : at + usage.span_ms > first_) row(usage, at);
    }
    return sorted();
  }

 private:
  using SeriesKey = std::tuple<std::string, std::string, SampleLabel>;
  struct Row {
    std::uint32_t series;
    Sample sample;
  };

  void row(const Usage& usage, std::int64_t at) {
    Source& source = source_of(usage);
    if (at < source.from || at >= source.to || (!source.any_model && source.model != usage.model)) {
      look_up(source, usage, at);
    }
    // Of a span only the part after begin_ counts.
    const std::int64_t cut = usage.span_ms > 0 ? std::max<std::int64_t>(begin_ - at, 0) : 0;
    Sample sample{.at = static_cast<std::uint32_t>(at + cut - begin_),
                  .span = static_cast<std::uint32_t>(usage.span_ms - cut),
                  .compute = UtilizationInterval::kUnknown,
                  .util = UtilizationInterval::kUnknown,
                  .memory = UtilizationInterval::kUnknown};
    read_compute(usage, source, sample);
    read_memory(usage, source, sample);
    ++counts_[source.series];
    rows_.push_back({source.series, sample});
  }

  // Rows mostly come sorted by time or by device. A source's row is then followed by the same
  // source as before, so the lookup costs one comparison.
  Source& source_of(const Usage& usage) {
    if (!sources_.empty()) {
      const std::uint32_t guess = sources_[last_].next;
      if (of_one_series(*sources_[guess].like, usage)) return sources_[last_ = guess];
    }
    const auto [place, is_new] =
        source_by_row_.try_emplace(&usage, static_cast<std::uint32_t>(sources_.size()));
    const std::uint32_t found = place->second;
    if (is_new) sources_.push_back({.like = &usage, .next = found});
    sources_[last_].next = found;
    return sources_[last_ = found];
  }

  void look_up(Source& source, const Usage& usage, std::int64_t at) {
    const Gpu* layout = nullptr;
    source.from = std::numeric_limits<std::int64_t>::min();
    source.to = kEver;
    for (const Layout& each : layouts_.of(usage.gpu)) {
      if (each.from > at) {
        source.to = std::min(source.to, each.from);
        break;
      }
      layout = each.to > at ? each.gpu : nullptr;
      source.from = layout != nullptr ? each.from : each.to;
      source.to = layout != nullptr ? each.to : kEver;
    }
    source.any_model = layout != nullptr && !layout->model.empty();
    source.model = source.any_model ? std::string_view(layout->model) : usage.model;
    const GpuModel* model = find_gpu_model(source.model);
    source.memory = memory_of(usage, layout, model);
    const bool mig =
        !usage.mig_instance.empty() || (layout != nullptr && !layout->mig_instances.empty());
    source.has_util = util_counts_ && (!mig || usage.of_workload);
    source.unreliable = !usage.mig_instance.empty() && is_unreliable(model, layout);
    source.series = series_of({device_of(usage, layout), usage.workload.text(),
                               usage.workload.empty() ? SampleLabel::kDevice
                               : usage.of_workload    ? SampleLabel::kWorkload
                                                      : SampleLabel::kPod});
  }

  std::uint32_t series_of(SeriesKey key) {
    const auto [place, is_new] =
        series_.try_emplace(std::move(key), static_cast<std::uint32_t>(counts_.size()));
    if (is_new) counts_.push_back(0);
    return place->second;
  }

  void read_compute(const Usage& usage, const Source& source, Sample& sample) {
    const auto& first = known_activity(usage, source);
    if (!first) return;
    if (source.unreliable) {
      ++unreliable_;
      return;
    }
    if (*first > kPpmOfAll) ++clamped_;
    sample.compute = units_of_ppm(*first);
    if (source.has_util && usage.gpu_util_ppm) sample.util = units_of_ppm(*usage.gpu_util_ppm);
  }

  const std::optional<std::uint64_t>& known_activity(const Usage& usage,
                                                     const Source& source) const {
    for (const UsageRules::Activity activity : rules_.activity) {
      switch (activity) {
        case UsageRules::Activity::kEngineActive:
          if (usage.engine_active_ppm) return usage.engine_active_ppm;
          break;
        case UsageRules::Activity::kSmActive:
          if (usage.sm_active_ppm) return usage.sm_active_ppm;
          break;
        case UsageRules::Activity::kGpuUtil:
          if (usage.gpu_util_ppm && source.has_util) return usage.gpu_util_ppm;
          break;
      }
    }
    return nothing_;
  }

  static std::uint32_t units_of_ppm(std::uint64_t ppm) {
    static_assert(CardShare::kUnitsPerCard * 125 == kPpmOfAll * 9009);
    return static_cast<std::uint32_t>(std::min(ppm, kPpmOfAll) * 9009 / 125);
  }

  void read_memory(const Usage& usage, const Source& source, Sample& sample) {
    if (!usage.memory_used_bytes) return;
    const std::uint64_t total = usage.memory_total_bytes.value_or(source.memory);
    if (total == 0) return;
    std::uint64_t used = *usage.memory_used_bytes;
    if (used > total) {
      ++clamped_;
      used = total;
    }
    // 128-bit division is several times slower, and no device has so much memory yet.
    constexpr std::uint64_t kPlainMax = ~std::uint64_t{0} / CardShare::kUnitsPerCard;
    sample.memory = static_cast<std::uint32_t>(used <= kPlainMax
                                                   ? used * CardShare::kUnitsPerCard / total
                                                   : CardShare::nearest_below(used, total).units());
  }

  // A counting sort: it builds each series in one pass, and mostly in order.
  SampledDevices sorted() {
    SampledDevices devices;
    devices.begin = from_unix_ms(begin_);
    devices.count = rows_.size();
    devices.clamped = clamped_;
    devices.unreliable = unreliable_;
    devices.samples = std::make_unique_for_overwrite<Sample[]>(rows_.size());
    std::vector<Sample*> place(counts_.size());
    Sample* free = devices.samples.get();
    devices.series.reserve(series_.size());
    for (const auto& [key, index] : series_) {
      const auto& [device, workload, label] = key;
      place[index] = free;
      devices.series.push_back({device, workload, label, {free, counts_[index]}});
      free += counts_[index];
    }
    for (const Row& row : rows_) *place[row.series]++ = row.sample;
    rows_ = {};
    for (SampleSeries& series : devices.series) {
      if (!std::ranges::is_sorted(series.samples)) std::ranges::sort(series.samples);
    }
    return devices;
  }

  const Layouts layouts_;
  const UsageRules& rules_;
  const bool util_counts_;
  const std::int64_t first_;  // begin of the interval
  const std::int64_t begin_;  // hold_ms before it
  const std::int64_t end_;
  const std::optional<std::uint64_t> nothing_;
  std::vector<Row> rows_;
  std::vector<Source> sources_;
  std::uint32_t last_ = 0;
  std::unordered_map<const Usage*, std::uint32_t, SeriesHash, SeriesEqual> source_by_row_;
  std::map<SeriesKey, std::uint32_t> series_;
  std::vector<std::size_t> counts_;  // of samples, by series
  std::uint64_t clamped_ = 0;
  std::uint64_t unreliable_ = 0;
};

}  // namespace

SampledDevices read_device_samples(std::span<const Usage> usages, std::span<const Gpu> gpus,
                                   const UsageRules& rules, const Interval& during) {
  constexpr std::uint64_t kMilliseconds = std::uint64_t{1} << 32;
  CHECK(rules.hold_ms() < kMilliseconds && during.length_ms() < kMilliseconds - rules.hold_ms(),
        "instants of the interval and of the hold before it fit in 32 bits");
  return Reader(gpus, rules, during).read(usages);
}

}  // namespace pennyweight
