#include "ingest/schedulers/openb/pods.h"

#include <fmt/format.h>

#include <utility>

#include "core/limits.h"
#include "core/plain_text.h"
#include "ingest/csv/cells.h"
#include "ingest/csv/columns.h"
#include "ingest/csv/reader.h"
#include "ingest/schedulers/openb/nodes.h"

namespace pennyweight::openb {
namespace {

constexpr std::string_view kRequired[] = {
    "name", "cpu_milli", "memory_mib",    "num_gpu",       "gpu_milli",
    "qos",  "pod_phase", "creation_time", "deletion_time", "scheduled_time"};
constexpr std::string_view kOptional[] = {"gpu_spec", "namespace", "node"};

constexpr std::uint64_t kWholeMilli = 1000;
// Some three hundred years, so that a sum of two times never overflows.
constexpr std::uint64_t kTraceMsMax = 10'000'000'000'000;

struct Request {
  std::uint32_t devices = 0;
  Device device = WholeGpu{};
};

Request read_request(csv::Cells& cells) {
  const std::uint64_t gpus = cells.count("num_gpu", limits::kGpusPerHoldingMax);
  const std::uint64_t milli = cells.count("gpu_milli", kWholeMilli);
  if (gpus == 0 && milli > 0) {
    cells.refuse("gpu_milli",
                 fmt::format("{} thousandths of a GPU, and num_gpu is 0; one of the two "
                             "is wrong",
                             milli));
  } else if (gpus > 0 && milli == 0) {
    cells.refuse("gpu_milli",
                 fmt::format("num_gpu is {}, and gpu_milli says that nothing of a GPU is "
                             "held; write 1000 for whole GPUs",
                             gpus));
  } else if (gpus > 1 && milli < kWholeMilli) {
    cells.refuse("gpu_milli",
                 fmt::format("a part of {} GPUs: the schema shares one GPU only; write "
                             "1000, or a row for each GPU",
                             gpus));
  }
  Request request{.devices = static_cast<std::uint32_t>(gpus)};
  if (milli > 0 && milli < kWholeMilli) {
    const auto share = CardShare::of(milli, kWholeMilli);
    CHECK(share, "a thousandth of a card is a whole number of units");
    request.device = CardFraction{*share, *share};
  }
  return request;
}

std::vector<std::string_view> alternatives(std::string_view spec) {
  std::vector<std::string_view> models;
  while (!spec.empty()) {
    const std::size_t bar = std::min(spec.find('|'), spec.size());
    models.push_back(spec.substr(0, bar));
    spec.remove_prefix(std::min(bar + 1, spec.size()));
  }
  return models;
}

Placement read_placement(csv::Cells& cells, std::uint32_t devices) {
  const std::string_view node = cells.optional_name("node");
  if (!node.empty()) return OnNodes{{{NodeId(std::string(node)), devices}}};
  InPool pool{.pools = {}, .devices = devices};
  for (const std::string_view model : alternatives(cells.optional_name("gpu_spec"))) {
    if (model.empty()) cells.refuse("gpu_spec", "an empty name between two '|'; write \"A|B\"");
    pool.pools.emplace_back(std::string(model));
  }
  return pool;
}

WorkloadId read_workload(csv::Cells& cells) {
  const std::string_view name = cells.name("name");
  const std::string_view name_space = cells.optional_name("namespace");
  return WorkloadId(name_space.empty() ? std::string(name)
                                       : fmt::format("{}/{}", name_space, name));
}

Labels read_labels(csv::Cells& cells) {
  Labels labels;
  for (const std::string_view key : {"qos", "pod_phase", "namespace"}) {
    const std::string_view value = cells.optional_name(key);
    if (value.empty()) continue;
    if (const auto set = labels.set(key, value); !set) cells.refuse(key, set.error().message);
  }
  return labels;
}

}  // namespace

class PodReader::Table final : public csv::Sink {
 public:
  Table(const PodOptions& options, FactSink<Holding> holdings, FactSink<RejectedRow> rejected)
      : options_(options),
        holdings_(std::move(holdings)),
        rejected_(std::move(rejected)),
        reader_({}, *this) {}

  Result<void> feed(std::string_view chunk) { return named(reader_.feed(chunk)); }
  Result<void> finish() {
    auto done = reader_.finish();
    if (done) done = holdings_.flush();
    if (done) done = rejected_.flush();
    return named(std::move(done));
  }
  const PodCounts& counts() const { return counts_; }

  Result<void> header(const csv::Header& header) override {
    header_ = header;
    return csv::check_columns(header_,
                              {.required = kRequired, .optional = kOptional, .open_prefix = {}});
  }

  Result<void> row(const csv::Row& row) override {
    csv::Cells cells(header_, row);
    auto holding = read(cells);
    if (cells.refusal()) return reject(row.line, *cells.refusal(), row.text);
    ++counts_.pods;
    if (!holding) return {};
    holding->source = {row.line};
    ++counts_.holdings;
    return holdings_.add(*std::move(holding));
  }

  Result<void> bad_row(const csv::BadRow& row) override {
    return reject(row.line, {"", row.reason}, row.text);
  }

 private:
  // Nothing for a pod that held nothing, or that is rejected.
  std::optional<Holding> read(csv::Cells& cells) {
    WorkloadId workload = read_workload(cells);
    const Request request = read_request(cells);
    Placement placement = read_placement(cells, request.devices);
    const std::uint64_t cpu_milli = cells.scaled("cpu_milli", 1);
    const std::uint64_t memory_bytes = cells.scaled("memory_mib", kBytesPerMib);
    Labels labels = read_labels(cells);
    const auto created = time_of(cells, "creation_time");
    const auto scheduled = time_of(cells, "scheduled_time");
    const auto deleted = time_of(cells, "deletion_time");
    if (created) {
      if (const auto set = labels.set(kSubmitTimeLabel, to_text(*created)); !set) {
        cells.refuse("creation_time", set.error().message);
      }
    }
    if (cells.refusal()) return std::nullopt;
    if (!scheduled) {
      ++counts_.never_scheduled;
      return std::nullopt;
    }
    const Instant end = deleted.value_or(options_.read_at);
    const auto held = Interval::of(*scheduled, end);
    if (!held && deleted && *deleted == *scheduled) {
      ++counts_.without_time;
      return std::nullopt;
    }
    if (!held) {
      cells.refuse(deleted ? "deletion_time" : "scheduled_time",
                   fmt::format("deleted at {}, before it was scheduled at {}; {}", to_text(end),
                               to_text(*scheduled),
                               deleted ? "correct one of the two"
                                       : "the deletion is the time of reading, so correct that or "
                                         "the origin of the trace"));
      return std::nullopt;
    }
    Holding holding(options_.cluster, std::move(workload), *held, std::move(placement));
    holding.ended = deleted.has_value();
    holding.device = request.device;
    // With several models, the pools are enough.
    const std::string_view spec = cells.text("gpu_spec");
    if (spec.find('|') == std::string_view::npos) holding.gpu_model = spec;
    holding.cpu_milli = cpu_milli;
    holding.memory_bytes = memory_bytes;
    holding.labels = std::move(labels);
    return holding;
  }

  std::optional<Instant> time_of(csv::Cells& cells, std::string_view column) {
    const auto ms = cells.optional_scaled(column, 1000);
    if (!ms) return std::nullopt;
    if (*ms > kTraceMsMax) {
      cells.refuse(column, "more than 300 years after the origin; times are seconds");
      return std::nullopt;
    }
    return options_.origin + std::chrono::milliseconds(static_cast<std::int64_t>(*ms));
  }

  Result<void> reject(std::uint64_t line, const csv::Refusal& refusal, std::string_view text) {
    ++counts_.rejected;
    return rejected_.add({.file = options_.file,
                          .line = line,
                          .column = refusal.column,
                          .reason = refusal.reason,
                          .text = printable_text(text, limits::kRejectedTextBytesMax)});
  }

  Result<void> named(Result<void> done) const {
    if (!done) return std::unexpected(done.error().during(options_.file));
    return done;
  }

  const PodOptions options_;
  FactBatch<Holding> holdings_;
  FactBatch<RejectedRow> rejected_;
  csv::Reader reader_;
  csv::Header header_;
  PodCounts counts_;
};

PodReader::PodReader(const PodOptions& options, FactSink<Holding> holdings,
                     FactSink<RejectedRow> rejected)
    : table_(std::make_unique<Table>(options, std::move(holdings), std::move(rejected))) {}
PodReader::~PodReader() = default;
Result<void> PodReader::feed(std::string_view chunk) { return table_->feed(chunk); }
Result<void> PodReader::finish() { return table_->finish(); }
const PodCounts& PodReader::counts() const { return table_->counts(); }

}  // namespace pennyweight::openb
