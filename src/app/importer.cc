#include "app/importer.h"

#include <fmt/format.h>

#include "app/file.h"
#include "app/reading.h"
#include "app/session_sink.h"
#include "core/limits.h"

namespace pennyweight {
namespace {

constexpr std::size_t kChunkBytes = 1u << 20;

// The cluster of a file: as told, else the only one that the configuration has.
ClusterConfig cluster_of(const ImportOptions& options, const Config& config) {
  if (options.cluster.empty() && config.clusters.size() == 1) return config.clusters.front();
  return cluster_config(config, ClusterId(options.cluster));
}

// Fills `chunk` from the front, as far as the file goes.
Result<std::size_t> fill(InputFile& file, std::span<char> chunk) {
  std::size_t filled = 0;
  while (filled < chunk.size()) {
    const auto got = file.read(chunk.subspan(filled));
    if (!got) return got;
    if (*got == 0) break;
    filled += *got;
  }
  return filled;
}

struct FirstChunk {
  std::vector<char> bytes;
  std::size_t filled = 0;
};

Result<void> feed_all(InputFile& file, FirstChunk first, const Reading& reading,
                      const SessionSink& sink, Progress& progress) {
  std::uint64_t done = 0;
  std::vector<char> chunk = std::move(first.bytes);
  std::size_t filled = first.filled;
  while (filled > 0) {
    if (auto fed = reading.feed({chunk.data(), filled}); !fed) return fed;
    done += filled;
    progress.update(done, file.bytes_all(), sink.rows());
    const auto next = fill(file, chunk);
    if (!next) return std::unexpected(next.error());
    filled = *next;
  }
  return reading.finish();
}

}  // namespace

Result<FileImport> import_file(Store& store, const std::string& path, const ImportOptions& options,
                               const Config& config, const Console& console, Clock& clock) {
  auto file = InputFile::open(path);
  if (!file) return std::unexpected(file.error());
  FirstChunk first{std::vector<char>(kChunkBytes), 0};
  const auto filled = fill(*file, first.bytes);
  if (!filled) return std::unexpected(filled.error());
  first.filled = *filled;

  FileImport result;
  const auto during = [&](const Error& error) {
    return std::unexpected(error.message.starts_with(file->name())
                               ? error
                               : error.during(fmt::format("cannot import {}", file->name())));
  };
  if (options.format) {
    result.format = *options.format;
  } else {
    const auto detected = detect_format({first.bytes.data(), first.filled});
    if (!detected) return during(detected.error());
    result.format = *detected;
  }

  const Instant now = clock.now();
  const ImportSource source{std::string(to_text(result.format)), file->name(), {}, now};
  auto session = store.begin_import(source);
  if (!session) return during(session.error());
  SessionSink sink(**session);
  const auto reading = begin_reading(
      result.format,
      {file->name(), options, cluster_of(options, config), now, sink, store, result.remarks});
  if (!reading) return during(reading.error());
  {
    Progress progress(console, file->name());
    if (auto fed = feed_all(*file, std::move(first), *reading, sink, progress); !fed) {
      return during(fed.error());
    }
  }
  auto outcome = (*session)->commit();
  if (!outcome) return during(outcome.error());

  result.outcome = std::move(*outcome);
  result.holdings = sink.holding_count();
  result.gpu_time = sink.gpu_time();
  result.without_gpu_time = sink.without_gpu_time();
  result.rejected = sink.first_rejected();
  for (const RejectedRow& row : result.outcome.conflict_rows) {
    if (result.rejected.size() < 2 * SessionSink::kRejectedShown) result.rejected.push_back(row);
  }
  return result;
}

}  // namespace pennyweight
