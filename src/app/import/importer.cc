#include "app/import/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "app/context/price_files.h"
#include "app/import/bill_survey.h"
#include "app/import/detect_format.h"
#include "app/import/file_parser.h"
#include "app/import/incomplete_delivery.h"
#include "app/import/session_sink.h"
#include "core/check.h"
#include "core/files/file.h"
#include "core/hash.h"
#include "core/limits.h"
#include "core/try.h"
#include "ledger/store_rules.h"
#include "reporting/number_format.h"

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

Result<OpenedFile> open_file(const std::string& path, const InputFormat* given,
                             const std::string& name = {}) {
  auto file = TRY(InputFile::open(path));
  FirstChunk first{std::vector<char>(kChunkBytes), 0};
  const auto filled = TRY(fill(file, first.bytes));
  first.filled = filled;
  if (given != nullptr) return OpenedFile{std::move(file), std::move(first), given};
  const auto detected = detect_format({first.bytes.data(), first.filled}, path);
  if (!detected) return cannot_import(name.empty() ? file.name() : name, detected.error());
  return OpenedFile{std::move(file), std::move(first), *detected};
}

// Closing a file gives up all locks that this process has of it, and the ledger's must stay.
Result<void> check_is_no_ledger(const std::string& path, const Config& config) {
  std::error_code missing;
  if (!std::filesystem::equivalent(path, config.store_path, missing)) return {};
  return fail(ErrorCode::kBadFile,
              fmt::format("cannot import {}: it is the ledger itself; name bills, records or "
                          "inventories",
                          path));
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
std::string delivery_name(const std::vector<std::string>& paths, const ImportOptions& options) {
  if (!options.name.empty()) return options.name;
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
  if (bill != nullptr) {
    options.bill_options.insert(bill->options.begin(), bill->options.end());
    if (bill->confirm_percent) {
      options.guard.percent_max = static_cast<std::uint64_t>(*bill->confirm_percent);
    }
    if (bill->confirm_amount) options.guard.amount_max = bill->confirm_amount;
  }
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
  ImportSource source{.format = format.name,
                      .name = paths.size() == 1 && paths.front() == "-"
                                  ? kStandardInput
                                  : delivery_name(paths, options),
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
    return fail(ErrorCode::kConfig,
                fmt::format("a delivery of style {} must be a file and not standard input, so that "
                            "it is recognised when it is sent again",
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

std::string joined(const std::vector<std::string>& sentences) {
  return fmt::format("{}", fmt::join(sentences, "; "));
}

std::string money_text(const MoneyOfRows& rows) {
  std::string text;
  for (const auto& [currency, costs] : rows.costs) {
    text += (text.empty() ? "" : " and ") + exact_money(costs.billed) + " billed";
  }
  return text.empty() ? "no money" : text;
}

std::string subject_text(const BillStatement& statement) {
  std::set<std::string> accounts;
  for (const DeliveredShare& share : statement.delivered) accounts.insert(share.account);
  return accounts.size() == 1 ? *accounts.begin() : counted(accounts.size(), "account");
}

// The totals that a person states must be those of the delivery. They are kept for reconcile and
// close where the delivery is of one account and month.
Result<void> check_expected(const ImportOptions& options, BillStatement& statement) {
  for (const Money& expected : options.expected) {
    Money found = Money::zero(expected.currency());
    for (const DeliveredShare& share : statement.delivered) {
      if (share.currency == expected.currency()) found += share.costs.billed;
    }
    if (found != expected) {
      return fail(ErrorCode::kConflict,
                  fmt::format("the total should be {}, but the lines that can be read add up to {} "
                              "billed, {} apart ({}); nothing was imported",
                              exact_money(expected), exact_money(found),
                              exact_money(found - expected), subject_text(statement)));
    }
    if (statement.delivered.empty() || statement.parts > 0) continue;
    const std::string& account = statement.delivered.front().account;
    const bool is_of_one = std::ranges::all_of(
        statement.delivered, [&](const DeliveredShare& s) { return s.account == account; });
    constexpr std::string_view kAccount = "account ";
    const std::string name = account.substr(8);
    if (!is_of_one || !name.starts_with(kAccount)) continue;
    statement.totals.push_back({.month = account.substr(0, 7),
                                .provider = {},
                                .account = name.substr(kAccount.size()),
                                .service = {},
                                .billed = expected,
                                .source = "--expect-total"});
  }
  return {};
}

// A file of differences counts once, however it is packed: the same lines in the same number as in
// an earlier one. Some known files among new ones are an Error, since each line would be a guess.
Result<bool> is_known_difference(Store& store, DeliveryStyle style,
                                 const BillStatement& statement) {
  if (style != DeliveryStyle::kDelta && style != DeliveryStyle::kLedger) return false;
  std::map<Hash128, std::uint64_t> known;  // the import that brought these lines
  const auto imports = TRY(store.imports());
  for (const ImportRecord& import : imports) {
    if (!adds_every_line(import.source.style) || import.statement.empty()) continue;
    const auto earlier = TRY(parse_bill_statement(import.statement));
    for (const DeliveredFile& file : earlier.files) {
      if (file.rows > 0) known.emplace(file.lines, import.number);
    }
  }
  std::uint64_t files = 0, found = 0;
  std::string which;
  for (const DeliveredFile& file : statement.files) {
    if (file.rows == 0) continue;
    ++files;
    const auto there = known.find(file.lines);
    if (there == known.end()) continue;
    ++found;
    which = fmt::format("{} (import {})", file.name, there->second);
  }
  if (found > 0 && found < files) {
    return fail(ErrorCode::kConflict,
                fmt::format("{} was imported before, and the other files were not; the delivery "
                            "holds {}; give only the new files",
                            which, money_text(statement.taken)));
  }
  return found > 0;
}

// Finds what the delivery does in money, and refuses what nobody may do without being told.
Result<CommitTerms> judge_delivery(Store& store, const SessionSink& sink,
                                   const ImportOptions& options, FileImport& result) {
  BillStatement& statement = result.statement;
  statement.files = sink.bill_files();
  statement.delivery = options.delivery;
  statement.part = options.part;
  statement.parts = options.parts;
  TRY(check_expected(options, statement));
  if (!options.mends.empty()) {
    if (statement.aside.rows > 0 || statement.taken.rows != options.mends.size()) {
      return fail(
          ErrorCode::kBadValue,
          fmt::format("{} to be mended, but the file has {} that can be read and {} that can't; "
                      "nothing was imported",
                      counted(options.mends.size(), "row"), counted(statement.taken.rows, "row"),
                      counted(statement.aside.rows, "row")));
    }
    statement.decisions = options.mends;
  }
  const DeliveryStyle style = options.style.value_or(DeliveryStyle::kGuarded);
  result.effect = TRY(effect_of(store, sink.bill_lines(), sink.bill_periods(),
                                {.style = style,
                                 .format = std::string(result.format->bill->name),
                                 .form = statement.form,
                                 .delivery = options.delivery,
                                 .part = options.part,
                                 .parts = options.parts,
                                 .guard = options.guard,
                                 .files = statement.files}));
  const DeliveryEffect& effect = result.effect;
  if (!effect.doubles.empty()) {
    if (options.not_double.empty() && !options.preview) {
      return fail(ErrorCode::kConflict,
                  joined(effect.doubles) +
                      "; nothing was imported. Keep one of the two; if they are different costs, "
                      "say so with --not-double REASON");
    }
    statement.notes.push_back("not a double: " + options.not_double);
  }
  std::ranges::copy(effect.similar, std::back_inserter(result.remarks));
  if (!effect.needs_confirm.empty()) {
    if (!options.confirmed.empty() && !options.preview &&
        options.confirmed != confirm_key(effect.needs_confirm)) {
      return fail(
          ErrorCode::kConflict,
          "what the file does has changed since it was confirmed: " + joined(effect.needs_confirm) +
              "; nothing was imported. Look at it again, and confirm that");
    }
    if (!options.confirm && options.confirmed.empty() && !options.preview) {
      return fail(ErrorCode::kConflict,
                  joined(effect.needs_confirm) +
                      "; nothing was imported. --preview shows the whole effect; --confirm accepts "
                      "it. If the file adds to earlier ones, it is not a replacement: give the "
                      "files of a month in one command, or name them as parts (--part 1/2 "
                      "--delivery-name NAME), or use --delivery guarded");
    }
    statement.notes.push_back(std::string(kConfirmedNote) + joined(effect.needs_confirm));
  }
  const bool replaces = style == DeliveryStyle::kReplacement && effect.replaces_lines;
  if (replaces && statement.aside.rows > 0 && !options.allow_aside && !options.preview) {
    return std::unexpected(with_rejected_rows(
        Error{ErrorCode::kBadFile, replacement_is_incomplete(statement.aside.rows) +
                                       "; the rows that could be read hold " +
                                       money_text(statement.taken) +
                                       "; or accept what stays aside with --allow-aside"},
        sink.first_rejected()));
  }
  return CommitTerms{.also_replaced = effect.also_replaced,
                     .statement = to_text(statement),
                     .accepts_rejected = true};
}

}  // namespace

Result<const InputFormat*> detect_file_format(const std::string& path,
                                              const ImportOptions& options) {
  const auto opened = TRY(open_file(path, options.format, options.name));
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
  if (given.incomplete) {
    return std::unexpected(
        refuse_incomplete(store, *given.incomplete, given, config, console, clock));
  }
  FileImport result;
  std::unique_ptr<ImportSession> session;
  std::optional<SessionSink> sink;
  ImportOptions options = given;
  std::optional<RateCard> card;
  const Instant now = clock.now();
  for (const std::string& path : paths) {
    TRY(check_is_no_ledger(path, config));
    auto opened = TRY(open_file(path, options.format, options.name));
    const std::string name = options.name.empty() ? opened.file.name() : options.name;
    if (!session) {
      result.format = opened.format;
      options = with_configured(given, *result.format, config);
      TRY(survey_bills(paths, *result.format, options, result.remarks));
      auto prices = load_card(*result.format, options);
      if (!prices) return cannot_import(name, prices.error());
      card = std::move(*prices);
      const auto source = make_source(paths, *result.format, options, now);
      if (!source) return cannot_import(name, source.error());
      auto begun = store.begin_import(*source);
      if (!begun) return cannot_import(name, begun.error());
      session = std::move(*begun);
      sink.emplace(*session);
      if (result.format->bill != nullptr) {
        sink->watch_bill(options.parts == 0
                             ? std::string()
                             : part_label(options.delivery, options.part, options.parts));
      }
    } else if (opened.format != result.format) {
      return fail(
          ErrorCode::kBadFile,
          fmt::format("{} is {} and {} is {}; all files of one delivery must have the same format",
                      paths.front(), result.format->description, name, opened.format->description));
    }
    const auto parser = open_parser(
        *opened.format, {path, name, options, cluster_of_file(options, config), now,
                         card ? &*card : nullptr, *sink, store, result.remarks, result.statement,
                         options.name.empty() ? changed_at(path) : options.changed});
    if (!parser) return cannot_import(name, parser.error());
    Progress progress(console, name);
    if (auto fed = feed_all(opened.file, std::move(opened.first), *parser, *sink, progress); !fed) {
      return cannot_import(name, fed.error());
    }
  }
  CommitTerms terms;
  if (result.format->bill != nullptr) {
    result.statement.files = sink->bill_files();
    for (const auto& [key, group] : sink->bill_lines().groups()) {
      result.statement.delivered.push_back(
          {key.account, key.sub_account, key.part, key.currency, group.lines, group.costs});
    }
    const auto known = is_known_difference(store, options.style.value_or(DeliveryStyle::kGuarded),
                                           result.statement);
    if (!known) return cannot_import(delivery_name(paths, options), known.error());
    if (*known) {
      result.outcome.known_file = true;
      return result;
    }
    auto judged = judge_delivery(store, *sink, options, result);
    if (!judged) return cannot_import(delivery_name(paths, options), judged.error());
    terms = std::move(*judged);
  } else if (!result.statement.totals.empty()) {
    terms.statement = to_text(result.statement);
    result.remarks.push_back(counted(result.statement.totals.size(), "total") +
                             " of the provider kept");
  }
  result.holdings = sink->holding_count();
  result.gpu_time = sink->gpu_time();
  result.without_gpu_time = sink->without_gpu_time();
  result.rejected_count = sink->rejected_count();
  result.rejected = sink->first_rejected();
  if (options.preview) return result;
  auto outcome = session->commit_on(terms);
  if (!outcome)
    return cannot_import(delivery_name(paths, options),
                         with_rejected_rows(outcome.error(), sink->first_rejected()));

  result.outcome = std::move(*outcome);
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
