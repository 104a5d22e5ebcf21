#include "app/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "app/file.h"
#include "app/price_files.h"
#include "app/reading.h"
#include "app/session_sink.h"
#include "core/check.h"
#include "core/hash.h"
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
  std::vector<char> chunk = std::move(first.bytes);
  std::size_t filled = first.filled;
  while (filled > 0) {
    if (auto fed = reading.feed({chunk.data(), filled}); !fed) return fed;
    progress.update(file.bytes_read(), file.bytes_all(), sink.rows());
    const auto next = fill(file, chunk);
    if (!next) return std::unexpected(next.error());
    filled = *next;
  }
  return reading.finish();
}

// A file whose format is known and of which nothing is lost.
struct OpenedFile {
  InputFile file;
  FirstChunk first;
  InputFormat format;
};

std::unexpected<Error> importing(const std::string& name, const Error& error) {
  const std::string doing = fmt::format("cannot import {}", name);
  const bool says_so = error.message.starts_with(name) || error.message.starts_with(doing);
  return std::unexpected(says_so ? error : error.during(doing));
}

// A delivery that is refused for its rows says which they are: none of it is kept to look at.
Error with_rows(Error error, const std::vector<RejectedRow>& rows) {
  if (error.code != ErrorCode::kBadFile) return error;
  for (const RejectedRow& row : rows) {
    const std::string line = row.line == 0 ? "" : fmt::format(":{}", row.line);
    error.message += fmt::format("; {}{}: {}", row.file, line, row.reason);
  }
  return error;
}

Result<OpenedFile> open(const std::string& path, const std::optional<InputFormat>& told) {
  auto file = InputFile::open(path);
  if (!file) return std::unexpected(file.error());
  FirstChunk first{std::vector<char>(kChunkBytes), 0};
  const auto filled = fill(*file, first.bytes);
  if (!filled) return std::unexpected(filled.error());
  first.filled = *filled;
  if (told) return OpenedFile{std::move(*file), std::move(first), *told};
  const auto detected = detect_format({first.bytes.data(), first.filled}, path);
  if (!detected) return importing(file->name(), detected.error());
  return OpenedFile{std::move(*file), std::move(first), *detected};
}

// "bill-1.csv", "bill-1.csv and 11 files more".
std::string name_of(const std::vector<std::string>& paths) {
  return paths.size() == 1 ? paths.front()
                           : fmt::format("{} and {} files more", paths.front(), paths.size() - 1);
}

const BillConfig* bill_config_of(InputFormat format, const Config& config) {
  const auto found = std::ranges::find(config.bills, bill_format_of(format), &BillConfig::format);
  return found == config.bills.end() ? nullptr : &*found;
}

// The options with what the configuration says of the format where they say nothing.
ImportOptions completed(ImportOptions options, InputFormat format, const Config& config) {
  options.style = delivery_style(format, options, config);
  const BillConfig* bill = bill_config_of(format, config);
  if (options.azure_metric.empty() && bill != nullptr) options.azure_metric = bill->azure_metric;
  if (options.rate_card.empty()) options.rate_card = config.rate_card_file;
  return options;
}

// Those of bills that may come without money.
bool may_need_card(InputFormat format) {
  const std::string_view bill = bill_format_of(format);
  return bill == "focus" || bill == "runpod";
}

Result<std::optional<RateCard>> card_for(InputFormat format, const ImportOptions& options) {
  if (options.rate_card.empty() || !may_need_card(format)) return std::nullopt;
  auto card = load_rate_card(options.rate_card);
  if (!card) return std::unexpected(card.error());
  return std::optional(*std::move(card));
}

Result<ImportSource> source_of(const std::vector<std::string>& paths, InputFormat format,
                               const ImportOptions& options, Instant now) {
  const DeliveryStyle style = options.style.value_or(DeliveryStyle::kGuarded);
  ImportSource source{
      .format = std::string(to_text(format)),
      .name = paths.size() == 1 && paths.front() == "-" ? kStandardInput : name_of(paths),
      .file_hash = {},
      .at = now,
      .style = style,
      .reason = options.reason};
  const bool adds = style == DeliveryStyle::kDelta || style == DeliveryStyle::kLedger;
  if (style != DeliveryStyle::kGuarded && !is_bill(format)) {
    return fail(ErrorCode::kConfig, fmt::format("--delivery is for bills, and {} is not one: {}",
                                                paths.front(), description_of(format)));
  }
  if (!adds) return source;
  // A file of differences is known by its bytes, so that it is not added twice.
  if (paths.front() == "-") {
    return fail(ErrorCode::kConfig,
                fmt::format("a delivery of style {} must be a file, so that it is known when it "
                            "comes again; standard input is not",
                            to_text(style)));
  }
  Fingerprint all;
  for (const std::string& path : paths) {
    const auto hash = hash_of_file(path);
    if (!hash) return std::unexpected(hash.error());
    all.add(to_text(*hash));
  }
  source.file_hash = all.hash();
  return source;
}

}  // namespace

Result<InputFormat> format_of_file(const std::string& path, const ImportOptions& options) {
  const auto opened = open(path, options.format);
  if (!opened) return std::unexpected(opened.error());
  return opened->format;
}

DeliveryStyle delivery_style(InputFormat format, const ImportOptions& options,
                             const Config& config) {
  if (options.style) return *options.style;
  const BillConfig* bill = bill_config_of(format, config);
  const auto configured = bill == nullptr ? std::nullopt : bill->delivery;
  return configured.value_or(DeliveryStyle::kGuarded);
}

Result<FileImport> import_files(Store& store, const std::vector<std::string>& paths,
                                const ImportOptions& told, const Config& config,
                                const Console& console, Clock& clock) {
  CHECK(!paths.empty(), "there is something to import");
  FileImport result;
  std::unique_ptr<ImportSession> session;
  std::optional<SessionSink> sink;
  ImportOptions options = told;
  std::optional<RateCard> card;
  const Instant now = clock.now();
  for (const std::string& path : paths) {
    auto opened = open(path, options.format);
    if (!opened) return std::unexpected(opened.error());
    const std::string name = opened->file.name();
    if (!session) {
      result.format = opened->format;
      options = completed(told, result.format, config);
      auto prices = card_for(result.format, options);
      if (!prices) return importing(name, prices.error());
      card = std::move(*prices);
      const auto source = source_of(paths, result.format, options, now);
      if (!source) return importing(name, source.error());
      auto begun = store.begin_import(*source);
      if (!begun) return importing(name, begun.error());
      session = std::move(*begun);
      sink.emplace(*session);
    } else if (opened->format != result.format) {
      return fail(
          ErrorCode::kBadFile,
          fmt::format("{} is {} and {} is {}; files of one delivery are of one kind", paths.front(),
                      description_of(result.format), name, description_of(opened->format)));
    }
    const auto reading =
        begin_reading(opened->format, {name, options, cluster_of(options, config), now,
                                       card ? &*card : nullptr, *sink, store, result.remarks});
    if (!reading) return importing(name, reading.error());
    Progress progress(console, name);
    if (auto fed = feed_all(opened->file, std::move(opened->first), *reading, *sink, progress);
        !fed) {
      return importing(name, fed.error());
    }
  }
  auto outcome = session->commit();
  if (!outcome)
    return importing(name_of(paths), with_rows(outcome.error(), sink->first_rejected()));

  result.outcome = std::move(*outcome);
  result.holdings = sink->holding_count();
  result.gpu_time = sink->gpu_time();
  result.without_gpu_time = sink->without_gpu_time();
  result.rejected = sink->first_rejected();
  for (const RejectedRow& row : result.outcome.conflict_rows) {
    if (result.rejected.size() < 2 * SessionSink::kRejectedShown) result.rejected.push_back(row);
  }
  return result;
}

Result<FileImport> import_file(Store& store, const std::string& path, const ImportOptions& options,
                               const Config& config, const Console& console, Clock& clock) {
  return import_files(store, {path}, options, config, console, clock);
}

}  // namespace pennyweight
