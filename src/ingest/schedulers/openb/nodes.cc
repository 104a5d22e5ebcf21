#include "ingest/schedulers/openb/nodes.h"

#include <fmt/format.h>

#include <utility>

#include "core/limits.h"
#include "core/plain_text.h"
#include "ingest/csv/cells.h"
#include "ingest/csv/columns.h"
#include "ingest/csv/reader.h"

namespace pennyweight::openb {
namespace {

constexpr std::string_view kColumns[] = {"sn", "cpu_milli", "memory_mib", "gpu", "model"};

}  // namespace

class NodeReader::Table final : public csv::Sink {
 public:
  Table(const NodeOptions& options, FactSink<Node> nodes, FactSink<RejectedRow> rejected)
      : options_(options),
        nodes_(std::move(nodes)),
        rejected_(std::move(rejected)),
        reader_({}, *this) {}

  Result<void> feed(std::string_view chunk) { return named(reader_.feed(chunk)); }
  Result<void> finish() {
    auto done = reader_.finish();
    if (done) done = nodes_.flush();
    if (done) done = rejected_.flush();
    return named(std::move(done));
  }
  const NodeCounts& counts() const { return counts_; }

  Result<void> header(const csv::Header& header) override {
    header_ = header;
    return csv::check_columns(header_, {.required = kColumns, .optional = {}, .open_prefix = {}});
  }

  Result<void> row(const csv::Row& row) override {
    csv::Cells cells(header_, row);
    Node node = read(cells);
    if (cells.refusal()) return reject(row.line, *cells.refusal(), row.text);
    node.source = {row.line};
    ++counts_.nodes;
    return nodes_.add(std::move(node));
  }

  Result<void> bad_row(const csv::BadRow& row) override {
    return reject(row.line, {"", row.reason}, row.text);
  }

 private:
  Node read(csv::Cells& cells) const {
    const std::string model(cells.optional_name("model"));
    const std::uint64_t gpus = cells.count("gpu", limits::kGpusPerNodeMax);
    if (gpus > 0 && model.empty()) {
      cells.refuse("model", fmt::format("{} GPUs of no model; name it", gpus));
    }
    if (gpus == 0 && !model.empty()) {
      cells.refuse("gpu",
                   fmt::format("no GPU of model '{}'; correct the number, or leave the model "
                               "empty",
                               model));
    }
    return {.cluster = options_.cluster,
            .name = NodeId(std::string(cells.name("sn"))),
            .provider_id = {},
            .instance_type = {},
            .region = {},
            .pool = options_.pool.value_or(PoolId(model)),
            .gpu_model = model,
            .gpu_count = static_cast<std::uint32_t>(gpus),
            .shard_count = 0,
            .cpu_milli = cells.scaled("cpu_milli", 1),
            .memory_bytes = cells.scaled("memory_mib", kBytesPerMib),
            .from = options_.from,
            .to = options_.to,
            .id = {},
            .source = {}};
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

  const NodeOptions options_;
  FactBatch<Node> nodes_;
  FactBatch<RejectedRow> rejected_;
  csv::Reader reader_;
  csv::Header header_;
  NodeCounts counts_;
};

NodeReader::NodeReader(const NodeOptions& options, FactSink<Node> nodes,
                       FactSink<RejectedRow> rejected)
    : table_(std::make_unique<Table>(options, std::move(nodes), std::move(rejected))) {}
NodeReader::~NodeReader() = default;
Result<void> NodeReader::feed(std::string_view chunk) { return table_->feed(chunk); }
Result<void> NodeReader::finish() { return table_->finish(); }
const NodeCounts& NodeReader::counts() const { return table_->counts(); }

}  // namespace pennyweight::openb
