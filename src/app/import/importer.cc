#include "app/import/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include "app/context/price_files.h"
#include "app/import/detect_format.h"
#include "app/import/file_parser.h"
#include "app/import/session_sink.h"
#include "core/check.h"
#include "core/files/file.h"
#include "core/hash.h"
#include "core/limits.h"
#include "core/try.h"

namespace pennyweight {
namespace {

constexpr std::size_t kChunkBytes = 1u << 20;

// The cluster of a file: that of the options, else the only one of the configuration.
ClusterConfig cluster_of_file(const ImportOptions& options, const Config& config) {
  if (options.cluster.empty() && config.clusters.size() == 1) return config.clusters.front();
  return cluster_config(config, ClusterId(options.cluster));
}

// Fills `chunk` from its front, until it is full or the file ends; the count of bytes.
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

Result<void> feed_all(InputFile& file, FirstChunk first, const FileParser& parser,
                      const SessionSink& sink, Progress& progress) {
  std::vector<char> chunk = std::move(first.bytes);
  std::size_t filled = first.filled;
  while (filled > 0) {
    TRY(parser.feed({chunk.data(), filled}));
    progress.update(file.bytes_read(), file.bytes_all(), sink.rows());
    const auto next = TRY(fill(file, chunk));
    filled = next;
  }
  return parser.finish();
}

// A file whose format is known; `first` has the bytes that were read to detect it.
struct OpenedFile {
  InputFile file;
  FirstChunk first;
  const InputFormat* format;
};

std::unexpected<Error> cannot_import(const std::string& name, const Error& error) {
  const std::string doing = fmt::format("cannot import {}", name);
  const bool says_so = error.message.starts_with(name) || error.message.starts_with(doing);
  return std::unexpected(says_so ? error : error.during(doing));
}

// A delivery that is refused for its rows names them, since the ledger keeps nothing of it to look
// at.
Error with_rejected_rows(Error error, const std::vector<RejectedRow>& rows) {
  if (error.code != ErrorCode::kBadFile) return error;
  for (const RejectedRow& row : rows) {
    const std::string line = row.line == 0 ? "" : fmt::format(":{}", row.line);
    error.message += fmt::format("; {}{}: {}", row.file, line, row.reason);
  }
  return error;
}

Result<OpenedFile> open_file(const std::string& path, const InputFormat* given) {
  auto file = TRY(InputFile::open(path));
  FirstChunk first{std::vector<char>(kChunkBytes), 0};
  const auto filled = TRY(fill(file, first.bytes));
  first.filled = filled;
  if (given != nullptr) return OpenedFile{std::move(file), std::move(first), given};
  const auto detected = detect_format({first.bytes.data(), first.filled}, path);
  if (!detected) return cannot_import(file.name(), detected.error());
  return OpenedFile{std::move(file), std::move(first), *detected};
}

// When the file was last changed; absent for standard input.
std::optional<Instant> changed_at(const std::string& path) {
  std::error_code failed;
  if (path == "-" || !std::filesystem::is_regular_file(path, failed)) return std::nullopt;
  const auto changed = std::filesystem::last_write_time(path, failed);
  if (failed) return std::nullopt;
  return std::chrono::floor<std::chrono::seconds>(std::chrono::file_clock::to_sys(changed));
}

// "bill-1.csv", "bill-1.csv and 11 more files".
std::string delivery_name(const std::vector<std::string>& paths) {
  if (paths.size() == 1) return paths.front();
  return fmt::format("{} and {} more {}", paths.front(), paths.size() - 1,
                     paths.size() == 2 ? "file" : "files");
}

// What the configuration says of bills of the format; null: nothing.
const BillConfig* find_bill_config(const InputFormat& format, const Config& config) {
  if (format.bill == nullptr) return nullptr;
  const auto found = std::ranges::find(config.bills, format.bill->name, &BillConfig::format);
  return found == config.bills.end() ? nullptr : &*found;
}

// Fills the gaps of the options from the configuration.
ImportOptions with_configured(ImportOptions options, const InputFormat& format,
                              const Config& config) {
  options.style = delivery_style(format, options, config);
  const BillConfig* bill = find_bill_config(format, config);
  if (bill != nullptr) options.bill_options.insert(bill->options.begin(), bill->options.end());
  if (options.rate_card.empty()) options.rate_card = config.rate_card_file;
  return options;
}

Result<std::optional<RateCard>> load_card(const InputFormat& format, const ImportOptions& options) {
  const bool uses_card = format.bill != nullptr && format.bill->uses_rate_card;
  if (options.rate_card.empty() || !uses_card) return std::nullopt;
  auto card = TRY(load_rate_card(options.rate_card));
  return std::optional(std::move(card));
}

Result<ImportSource> make_source(const std::vector<std::string>& paths, const InputFormat& format,
                                 const ImportOptions& options, Instant now) {
  const DeliveryStyle style = options.style.value_or(DeliveryStyle::kGuarded);
  ImportSource source{
      .format = format.name,
      .name = paths.size() == 1 && paths.front() == "-" ? kStandardInput : delivery_name(paths),
      .file_hash = {},
      .at = now,
      .style = style,
      .reason = options.reason};
  const bool adds = style == DeliveryStyle::kDelta || style == DeliveryStyle::kLedger;
  if (style != DeliveryStyle::kGuarded && format.bill == nullptr) {
    return fail(ErrorCode::kConfig, fmt::format("--delivery is for bills, and {} is not one: {}",
                                                paths.front(), format.description));
  }
  if (!adds) return source;
  // A file of differences is recognised by its bytes, so that it is not added twice.
  if (paths.front() == "-") {
    return fail(
        ErrorCode::kConfig,
        fmt::format("a delivery of style {} must be a file, so that it is recognised when it "
                    "is sent again; standard input can't be",
                    to_text(style)));
  }
  Fingerprint all;
  for (const std::string& path : paths) {
    const auto hash = TRY(hash_of_file(path));
    all.add(to_text(hash));
  }
  source.file_hash = all.hash();
  return source;
}

}  // namespace

Result<const InputFormat*> detect_file_format(const std::string& path,
                                              const ImportOptions& options) {
  const auto opened = TRY(open_file(path, options.format));
  return opened.format;
}

DeliveryStyle delivery_style(const InputFormat& format, const ImportOptions& options,
                             const Config& config) {
  if (options.style) return *options.style;
  if (format.bill == nullptr) return DeliveryStyle::kGuarded;
  const BillConfig* bill = find_bill_config(format, config);
  const auto configured = bill == nullptr ? std::nullopt : bill->delivery;
  return configured.value_or(format.bill->default_delivery);
}

Result<FileImport> import_files(Store& store, const std::vector<std::string>& paths,
                                const ImportOptions& given, const Config& config,
                                const Console& console, Clock& clock) {
  CHECK(!paths.empty(), "there is something to import");
  FileImport result;
  std::unique_ptr<ImportSession> session;
  std::optional<SessionSink> sink;
  ImportOptions options = given;
  std::optional<RateCard> card;
  const Instant now = clock.now();
  for (const std::string& path : paths) {
    auto opened = TRY(open_file(path, options.format));
    const std::string name = opened.file.name();
    if (!session) {
      result.format = opened.format;
      options = with_configured(given, *result.format, config);
      auto prices = load_card(*result.format, options);
      if (!prices) return cannot_import(name, prices.error());
      card = std::move(*prices);
      const auto source = make_source(paths, *result.format, options, now);
      if (!source) return cannot_import(name, source.error());
      auto begun = store.begin_import(*source);
      if (!begun) return cannot_import(name, begun.error());
      session = std::move(*begun);
      sink.emplace(*session);
    } else if (opened.format != result.format) {
      return fail(
          ErrorCode::kBadFile,
          fmt::format("{} is {} and {} is {}; all files of one delivery must have the same format",
                      paths.front(), result.format->description, name, opened.format->description));
    }
    const auto parser = open_parser(
        *opened.format, {name, options, cluster_of_file(options, config), now,
                         card ? &*card : nullptr, *sink, store, result.remarks, changed_at(path)});
    if (!parser) return cannot_import(name, parser.error());
    Progress progress(console, name);
    if (auto fed = feed_all(opened.file, std::move(opened.first), *parser, *sink, progress); !fed) {
      return cannot_import(name, fed.error());
    }
  }
  auto outcome = session->commit();
  if (!outcome)
    return cannot_import(delivery_name(paths),
                         with_rejected_rows(outcome.error(), sink->first_rejected()));

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
