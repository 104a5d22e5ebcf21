// Turns samples into intervals, and decides what a pod's name on a row means.
//
// dcgm-exporter up to 4.5.2 repeats every value of a device for each pod that shares it (issues
// #582 and #587), or gives them to one of its pods (#151). Since #594 a pod's GPU_UTIL and FB_USED
// are its own, summed over its processes, and the device has a row too. A pod's GR_ENGINE_ACTIVE
// and SM_ACTIVE are still the device's, since no driver measures them by process.
//
// Which case applies is decided instant by instant, from the rows of that instant alone. So the
// begin of the interval does not matter, and a month is the sum of its hours.
#include "allocation/utilization.h"

#include <algorithm>
#include <utility>

#include "allocation/samples.h"
#include "allocation/spans.h"

namespace pennyweight {
namespace {

constexpr std::uint32_t kUnknown = UtilizationInterval::kUnknown;

// The values of a series from `at` on. Both unknown: the series has ended.
struct Event {
  std::uint32_t at;
  std::uint32_t span;  // as of a Sample
  std::uint32_t compute;
  std::uint32_t memory;
  bool is_compared;  // inferred by comparing rows with a pod's name; else the row itself says whose
                     // it is
  bool is_end() const { return compute == kUnknown && memory == kUnknown; }
};

// A row without a pod's name (party 0), or with that of one of the device's parties.
struct Row {
  Sample sample;
  std::uint32_t party;
};

bool is_positive(std::uint32_t value) { return value != 0 && value != kUnknown; }

// Keeps one sample for each instant, of those with any value.
std::span<const Sample> distinct(std::span<Sample> samples, std::uint64_t& copies) {
  std::size_t kept = 0;
  for (const Sample& sample : samples) {
    if (sample.compute == kUnknown && sample.memory == kUnknown) continue;
    if (kept > 0 && samples[kept - 1].at == sample.at) {
      ++copies;
      continue;
    }
    samples[kept++] = sample;
  }
  return samples.first(kept);
}

// The rows of one device at one instant, at least one of which names a pod.
class InstantRows {
 public:
  explicit InstantRows(std::span<const Row> rows)
      : device_(rows.front().party == 0 ? &rows.front().sample : nullptr),
        pods_(rows.subspan(device_ != nullptr ? 1 : 0)) {
    const Sample& first = rows.front().sample;
    for (const Row& row : rows) {
      one_compute_ = one_compute_ && row.sample.compute == first.compute;
      one_util_ = one_util_ && row.sample.util == first.util;
      one_memory_ = one_memory_ && row.sample.memory == first.memory;
    }
  }

  const Sample* device() const { return device_; }
  std::span<const Row> pods() const { return pods_; }

  // Whether the pods' rows are copies of the device's values. Where the device has a row of its own
  // they are not, unless several of them equal it: parts can't each be the whole.
  bool repeats() const {
    if (!one_compute_ || !one_util_ || !one_memory_) return false;
    const Sample& value = pods_.front().sample;
    return device_ == nullptr ||
           (pods_.size() > 1 && (is_positive(value.compute) || is_positive(value.memory)));
  }

  // The pod's own values. REQUIRES: !repeats().
  std::uint32_t compute_of(const Sample& pod) const {
    if (!one_compute_ || pod.compute == 0) return pod.compute;
    // A value that only one pod has is the device's. It is this pod's where the pod did all the
    // work.
    const bool alone = pods_.size() == 1 && (one_util_ || pod.util == kUnknown);
    const bool all = device_ != nullptr && pod.util != kUnknown && pod.util == device_->util;
    if (alone || (all && !one_util_)) return pod.compute;
    return pod.util;
  }
  std::uint32_t memory_of(const Sample& pod) const {
    const bool repeated = device_ != nullptr && pods_.size() > 1 && one_memory_ && pod.memory != 0;
    return repeated ? kUnknown : pod.memory;
  }

 private:
  const Sample* device_;
  std::span<const Row> pods_;
  bool one_compute_ = true;
  bool one_util_ = true;
  bool one_memory_ = true;
};

class UtilizationBuilder {
 public:
  // `begin`: of the samples' time.
  UtilizationBuilder(Instant begin, const Interval& during, std::uint64_t hold_ms,
                     ObservedUtilization& usage)
      : begin_(begin), hold_(hold_ms), end_(hold_ms + during.length_ms()), usage_(usage) {}

  // REQUIRES: all of one device, in the order of SampledDevices.
  void device(std::span<SampleSeries> series) {
    cut_spans(series, cut_);
    for (const SampleSeries& each : series) {
      if (!each.workload.empty()) sight(each);
    }
    // Most devices have one row at a time. It is the device's, whatever pod it names.
    if (series.size() == 1 && series.front().label != SampleLabel::kWorkload) {
      return simple(series.front());
    }
    parties_.assign(1, {});
    parties_.front().workload = "";
    std::vector<Row> rows;
    for (SampleSeries& each : series) {
      if (each.workload != parties_.back().workload) parties_.push_back({each.workload, {}});
      const auto samples = distinct(each.samples, usage_.copies);
      if (each.label == SampleLabel::kWorkload) {
        for (const Sample& sample : samples) {
          parties_.back().events.push_back(
              {sample.at, sample.span, sample.compute, sample.memory, false});
        }
      } else {
        const auto party = static_cast<std::uint32_t>(parties_.size() - 1);
        for (const Sample& sample : samples) rows.push_back({sample, party});
      }
    }
    tell(std::move(rows));
    for (WorkloadValues& party : parties_) finish(series.front().device, party);
  }

 private:
  void sight(const SampleSeries& series) {
    const auto instant = [&](std::uint64_t at) { return begin_ + std::chrono::milliseconds(at); };
    // A span was observed to its end.
    const auto last_of = [](const Sample& sample) {
      return std::uint64_t{sample.at} + std::max(sample.span, 1u) - 1;
    };
    const std::span<const Sample> samples = series.samples;
    for (std::size_t i = 0; i < samples.size();) {
      const std::uint64_t first = samples[i].at;
      std::uint64_t last = last_of(samples[i]);
      for (++i; i < samples.size() && samples[i].at <= last + hold_; ++i) {
        last = std::max(last, last_of(samples[i]));
      }
      usage_.placed.push_back(
          {WorkloadId(series.workload), GpuId(series.device), instant(first), instant(last)});
    }
  }

  struct WorkloadValues {
    std::string workload;
    std::vector<Event> events;
  };

  void simple(SampleSeries& series) {
    const auto samples = distinct(series.samples, usage_.copies);
    std::vector<UtilizationInterval> seen;
    seen.reserve(samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      hold(samples[i], i + 1 < samples.size() ? samples[i + 1].at : end_, seen);
    }
    keep(series.device, "", std::move(seen));
  }

  void tell(std::vector<Row> rows) {
    std::ranges::sort(rows, [](const Row& a, const Row& b) {
      return a.sample.at != b.sample.at ? a.sample.at < b.sample.at : a.party < b.party;
    });
    for (std::size_t i = 0; i < rows.size();) {
      std::size_t end = i + 1;
      while (end < rows.size() && rows[end].sample.at == rows[i].sample.at) ++end;
      tell_moment(std::span(rows).subspan(i, end - i));
      i = end;
    }
  }

  void tell_moment(std::span<const Row> rows) {
    const std::uint32_t at = rows.front().sample.at;
    std::vector<Event>& device = parties_.front().events;
    const Sample& first = rows.front().sample;
    if (rows.size() == 1 && rows.front().party == 0) {
      device.push_back({at, first.span, first.compute, first.memory, false});
      return;
    }
    const InstantRows moment(rows);
    if (moment.repeats()) {
      device.push_back({at, first.span, first.compute, first.memory, moment.device() == nullptr});
      usage_.copies += rows.size() - 1;
      for (const Row& pod : moment.pods()) {
        parties_[pod.party].events.push_back({at, 0, kUnknown, kUnknown, true});
      }
      return;
    }
    if (moment.device() != nullptr) {
      device.push_back({at, first.span, first.compute, first.memory, false});
    } else {
      device.push_back({at, 0, kUnknown, kUnknown, true});
    }
    for (const Row& pod : moment.pods()) {
      parties_[pod.party].events.push_back(
          {at, pod.sample.span, moment.compute_of(pod.sample), moment.memory_of(pod.sample), true});
    }
  }

  // What was inferred by comparison ends only what was inferred so: rows that say whose they are
  // come from a source of their own, with its own instants.
  void finish(const std::string& device, WorkloadValues& party) {
    std::vector<Event>& events = party.events;
    std::ranges::sort(events, [](const Event& a, const Event& b) {
      return a.at != b.at ? a.at < b.at : a.is_compared < b.is_compared;
    });
    std::size_t kept = 0;
    for (const Event& event : events) {
      if (kept > 0 && event.is_end() && !events[kept - 1].is_compared) continue;
      if (kept > 0 && event.at == events[kept - 1].at) {
        if (!event.is_end()) ++usage_.copies;
        continue;
      }
      events[kept++] = event;
    }
    std::vector<UtilizationInterval> seen;
    seen.reserve(kept);
    for (std::size_t i = 0; i < kept; ++i) {
      if (!events[i].is_end()) hold(events[i], i + 1 < kept ? events[i + 1].at : end_, seen);
    }
    keep(device, party.workload, std::move(seen));
  }

  // Of a Sample or an Event, up to the next one's.
  template <class Values>
  void hold(const Values& values, std::uint64_t next,
            std::vector<UtilizationInterval>& seen) const {
    const std::uint64_t begin = std::max<std::uint64_t>(values.at, hold_);
    const std::uint64_t until = values.at + (values.span > 0 ? values.span : hold_);
    const std::uint64_t end = std::min({next, until, end_});
    if (begin >= end) return;
    seen.push_back({static_cast<std::uint32_t>(begin - hold_),
                    static_cast<std::uint32_t>(end - hold_), values.compute, values.memory});
  }

  void keep(const std::string& device, const std::string& workload,
            std::vector<UtilizationInterval> seen) {
    if (seen.empty()) return;
    usage_.series.push_back({GpuId(device), WorkloadId(workload), std::move(seen)});
  }

  const Instant begin_;
  const std::uint64_t hold_;  // and the begin of `during`, in the time of samples
  const std::uint64_t end_;
  ObservedUtilization& usage_;
  std::vector<WorkloadValues> parties_;  // the device, then by workload
  CutSamples cut_;
};

}  // namespace

ObservedUtilization to_intervals(std::span<const Usage> usages, std::span<const Gpu> gpus,
                                 const UsageRules& rules, const Interval& during) {
  SampledDevices devices = read_device_samples(usages, gpus, rules, during);
  ObservedUtilization usage{.during = during,
                            .series = {},
                            .samples = devices.count,
                            .clamped = devices.clamped,
                            .unreliable = devices.unreliable,
                            .copies = 0,
                            .placed = {}};
  usage.series.reserve(devices.series.size());
  UtilizationBuilder builder(devices.begin, during, rules.hold_ms(), usage);
  const std::span series(devices.series);
  for (std::size_t i = 0; i < series.size();) {
    std::size_t end = i + 1;
    while (end < series.size() && series[end].device == series[i].device) ++end;
    builder.device(series.subspan(i, end - i));
    i = end;
  }
  std::ranges::sort(usage.placed);
  const auto repeated = std::ranges::unique(usage.placed);
  usage.placed.erase(repeated.begin(), repeated.end());
  return usage;
}

}  // namespace pennyweight
