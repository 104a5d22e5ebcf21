// import: files into the ledger, each all or nothing.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "app/file.h"
#include "app/importer.h"
#include "app/table_options.h"
#include "app/told_changes.h"
#include "app/verb.h"
#include "core/card_share.h"
#include "report/number_format.h"

namespace pennyweight {
namespace {

struct ImportArguments {
  std::vector<std::string> paths;
  std::string format;
  std::string cluster;
  std::string node;
  std::string origin;
  std::string from;
  std::string to;
  std::string delivery;
  std::string reason;
  std::string azure_metric;
  std::string rate_card;
  std::string bucket;
  bool deep = false;
  bool strict = false;
};

Result<std::optional<Instant>> instant_of(const std::string& text, std::string_view option) {
  if (text.empty()) return std::nullopt;
  const auto parsed = parse_instant(text);
  if (!parsed) return wrong_usage(fmt::format("{}: {}", option, parsed.error().message));
  return *parsed;
}

Result<ImportOptions> options_of(const ImportArguments& arguments) {
  ImportOptions options;
  if (!arguments.format.empty()) options.format = parse_input_format(arguments.format);
  options.cluster = arguments.cluster;
  options.node = arguments.node;
  const auto origin = instant_of(arguments.origin, "--origin");
  const auto from = instant_of(arguments.from, "--from");
  const auto to = instant_of(arguments.to, "--to");
  for (const auto* instant : {&origin, &from, &to}) {
    if (!*instant) return std::unexpected(instant->error());
  }
  options.origin = *origin;
  options.from = *from;
  options.to = *to;
  options.style = parse_delivery_style(arguments.delivery);  // empty: as configured
  options.reason = arguments.reason;
  options.azure_metric = arguments.azure_metric;
  options.rate_card = arguments.rate_card;
  options.bucket = arguments.bucket;
  return options;
}

std::string counted(const FactCounts& counts, std::string_view name) {
  const auto number = [](std::uint64_t count) {
    return format_count(count, Thousands::kSeparated);
  };
  const std::uint64_t all = counts.created + counts.existing;
  std::string text = fmt::format("  {} {}{}: {} new", number(all), name, all == 1 ? "" : "s",
                                 number(counts.created));
  if (counts.existing > 0) text += fmt::format(", {} already there", number(counts.existing));
  if (counts.repeated > 0) {
    text += fmt::format(", {} identical lines each kept", number(counts.repeated));
  }
  if (counts.conflicts > 0) text += fmt::format(", {} in conflict", number(counts.conflicts));
  return text + '\n';
}

bool has_any(const FactCounts& counts) {
  return counts.created + counts.existing + counts.conflicts > 0;
}

std::uint64_t conflicts_of(const ImportOutcome& outcome) {
  return outcome.charges.conflicts + outcome.holdings.conflicts + outcome.nodes.conflicts +
         outcome.gpus.conflicts + outcome.usages.conflicts + outcome.outages.conflicts +
         outcome.corrections.conflicts + outcome.outcomes.conflicts;
}

std::string summary_of(const std::vector<std::string>& paths, const FileImport& file,
                       const Console& console) {
  const ImportOutcome& outcome = file.outcome;
  std::string text =
      fmt::format("{}{}  {}\n", console.bold(printable(paths.front())),
                  paths.size() == 1 ? "" : fmt::format(" and {} files more", paths.size() - 1),
                  description_of(file.format));
  const struct {
    const FactCounts& counts;
    std::string_view name;
  } kinds[] = {{outcome.charges, "bill line"},
               {outcome.holdings, "holding"},
               {outcome.nodes, "node"},
               {outcome.gpus, "GPU"},
               {outcome.usages, "usage sample"},
               {outcome.outages, "outage"},
               {outcome.corrections, "correction"},
               {outcome.outcomes, "outcome"}};
  bool nothing = true;
  for (const auto& [counts, name] : kinds) {
    if (!has_any(counts)) continue;
    text += counted(counts, name);
    nothing = false;
  }
  if (nothing) text += "  nothing to keep\n";
  const auto number = [](std::uint64_t count) {
    return format_count(count, Thousands::kSeparated);
  };
  if (outcome.known_file) {
    text += "  these bytes were taken before; differences count once\n";
  }
  if (outcome.restated.removed > 0) {
    text += fmt::format("  {} bill lines are no longer so and left their open month\n",
                        number(outcome.restated.removed));
  }
  if (outcome.restated.reversed > 0) {
    text += fmt::format("  {} bill lines of closed months were taken back in the next open month\n",
                        number(outcome.restated.reversed));
  }
  if (outcome.restated.late > 0) {
    text += fmt::format("  {} bill lines of closed months were booked in the next open month\n",
                        number(outcome.restated.late));
  }
  if (file.gpu_time != GpuTime()) {
    text += fmt::format("  {} GPU-hours held\n",
                        format_gpu_hours(file.gpu_time, 4, Thousands::kSeparated));
  }
  if (file.without_gpu_time > 0) {
    text += fmt::format("  {} holdings of parts of cards, whose size their nodes decide\n",
                        format_count(file.without_gpu_time, Thousands::kSeparated));
  }
  for (const std::string& remark : file.remarks) text += fmt::format("  {}\n", printable(remark));
  return text;
}

void warn_of_rejected(const FileImport& file, const Console& console) {
  for (const RejectedRow& row : file.rejected) {
    const std::string line = row.line == 0 ? "" : fmt::format(":{}", row.line);
    // Most reasons begin with the column already.
    const bool is_named = row.column.empty() || row.reason.starts_with(row.column);
    const std::string column = is_named ? "" : fmt::format(" {}:", row.column);
    console.warn(fmt::format("{}{}:{} {}", row.file, line, column, row.reason));
  }
  if (file.outcome.rejected > file.rejected.size()) {
    console.warn(fmt::format("… and {} rows more; 'pennyweight reconcile' lists them",
                             file.outcome.rejected - file.rejected.size()));
  }
}

// What lies beside the files of an export and has no rows: manifests of AWS and Azure, metadata of
// FOCUS, marks of Spark; and a ledger with its audit log, by its default name.
bool lies_beside_bills(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name.ends_with("manifest.json") || name.ends_with(".metadata.json") ||
         name == "_success" || name.starts_with("_committed_") || name.starts_with("_started_") ||
         name.starts_with("pennyweight.duckdb");
}

// Files as given, those that a pattern means, and the files of folders in the order of their names.
// What can't be listed stays, so that opening it gives the error.
std::vector<std::string> files_of_paths(const std::vector<std::string>& paths, bool deep,
                                        const Console& console) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) {
      const bool exists = path == "-" || std::filesystem::exists(path, ignored);
      auto matching = exists ? std::vector<std::string>{path} : files_matching(path);
      if (matching.empty()) matching = {path};
      files.insert(files.end(), matching.begin(), matching.end());
      continue;
    }
    auto inside = files_of(path, deep);
    if (!inside) {
      files.push_back(path);
      continue;
    }
    if (inside->empty()) console.warn(fmt::format("{} holds no files", path));
    for (const std::string& beside : *inside) {
      if (lies_beside_bills(beside)) console.say(fmt::format("{} is passed over: no bill", beside));
    }
    std::erase_if(*inside, lies_beside_bills);
    files.insert(files.end(), inside->begin(), inside->end());
  }
  return files;
}

// A replacement takes what it does not say for gone, so its files belong together: all of them
// where the command line says so, those of one format where the configuration does.
std::vector<std::vector<std::string>> deliveries_of(const std::vector<std::string>& files,
                                                    const ImportOptions& options,
                                                    const Config& config) {
  if (options.style == DeliveryStyle::kReplacement && !files.empty()) return {files};
  std::vector<std::vector<std::string>> deliveries;
  std::map<InputFormat, std::size_t> replaced;  // where their delivery is
  const bool may_replace =
      !options.style && std::ranges::any_of(config.bills, [](const BillConfig& bill) {
        return bill.delivery == DeliveryStyle::kReplacement;
      });
  for (const std::string& path : files) {
    // Standard input can't be looked into; a file that is wrong is told when it is imported.
    const auto format =
        may_replace && path != "-" ? std::optional(format_of_file(path, options)) : std::nullopt;
    if (format && *format &&
        delivery_style(**format, options, config) == DeliveryStyle::kReplacement) {
      const auto [at, is_first] = replaced.try_emplace(**format, deliveries.size());
      if (!is_first) {
        deliveries[at->second].push_back(path);
        continue;
      }
    }
    deliveries.push_back({path});
  }
  return deliveries;
}

// Parts of one delivery that are imported one by one: a line that stands in two of them is taken
// for the same line, and its money counts once. Whether they are parts, no file says.
class PartsWatch {
 public:
  void look_at(const std::string& path, const FileImport& file, DeliveryStyle style,
               const Console& console) {
    if (!is_bill(file.format) || style != DeliveryStyle::kGuarded) return;
    const FactCounts& lines = file.outcome.charges;
    if (lines.existing > 0 && brought_new_.contains(file.format)) {
      console.warn(fmt::format(
          "{}: {} bill lines were there already, and files before it in this command brought new "
          "ones. If they are parts of one delivery, lines that are alike were counted once: import "
          "them again with --delivery replacement",
          path, lines.existing));
    }
    if (lines.created > 0) brought_new_.insert(file.format);
  }

 private:
  std::set<InputFormat> brought_new_;
};

Result<ExitCode> run(const ImportArguments& arguments, Context& context) {
  const auto options = options_of(arguments);
  if (!options) return std::unexpected(options.error());
  const std::vector<std::string> files =
      files_of_paths(arguments.paths, arguments.deep, context.console);
  const auto deliveries = deliveries_of(files, *options, context.config);
  const auto store = create_ledger(context.config);
  if (!store) return std::unexpected(store.error());

  std::uint64_t failed = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t rejected = 0;
  PartsWatch parts;
  for (const std::vector<std::string>& delivery : deliveries) {
    const auto imported =
        import_files(**store, delivery, *options, context.config, context.console, context.clock);
    if (!imported) {
      if (imported.error().code == ErrorCode::kConfig) return std::unexpected(imported.error());
      context.console.complain(imported.error());
      ++failed;
      continue;
    }
    context.console.print(summary_of(delivery, *imported, context.console));
    warn_of_rejected(*imported, context.console);
    parts.look_at(delivery.front(), *imported,
                  delivery_style(imported->format, *options, context.config), context.console);
    if (const auto told = tell_import(context, delivery, *imported); !told) {
      return std::unexpected(told.error());
    }
    conflicts += conflicts_of(imported->outcome);
    rejected += imported->outcome.rejected;
  }
  if (failed > 0) {
    return fail(ErrorCode::kBadFile,
                fmt::format("{} of {} files could not be imported; nothing of them was kept",
                            failed, deliveries.size()));
  }
  if (conflicts > 0) {
    return fail(ErrorCode::kConflict,
                fmt::format("{} rows say something else than the ledger; the ledger's version was "
                            "kept, the rows were put aside",
                            conflicts));
  }
  if (rejected > 0 && arguments.strict) {
    return fail(ErrorCode::kBadValue, fmt::format("{} rows were kept aside (--strict)", rejected));
  }
  return ExitCode::kDone;
}

}  // namespace

Verb declare_import(CLI::App& app) {
  const auto options = std::make_shared<ImportArguments>();
  CLI::App* command =
      app.add_subcommand("import", "Take in bills, job and pod records, inventories, telemetry");
  command->add_option("FILE", options->paths, "Files, folders, or - for standard input")
      ->required();
  command->add_option("--format", options->format, "What the files are; else told by their content")
      ->check(CLI::IsMember(input_format_names()));
  command->add_option("--cluster", options->cluster,
                      "Whose records they are; a bill names its own");
  command->add_option("--node", options->node, "Whose nvidia-smi or DCGM output it is");
  command->add_option("--origin", options->origin, "Second 0 of a trace that counts from a start");
  command->add_option("--from", options->from, "Since when the nodes of a list are there");
  command->add_option("--to", options->to, "Until when they were");
  command
      ->add_option("--delivery", options->delivery,
                   "Of bills: how they meet what was sent before. guarded: new lines are taken, "
                   "changed ones kept aside; replacement: the files are all of their accounts and "
                   "months; delta, ledger: differences that add up. Else as 'bills' of the "
                   "configuration says, else guarded")
      ->check(CLI::IsMember({"guarded", "replacement", "delta", "ledger"}));
  command->add_option("--reason", options->reason, "Why a bill was sent again, for the record");
  command
      ->add_option("--azure-metric", options->azure_metric,
                   "Which of Azure's exports a file is: actual, amortized, or purchases (of the "
                   "actual one only what the amortized lacks)")
      ->check(CLI::IsMember({"actual", "amortized", "purchases"}));
  command->add_option("--rate-card", options->rate_card,
                      "Prices of bills that come without money; else prices.rate_card");
  command
      ->add_option("--bucket", options->bucket,
                   "How long the time buckets of RunPod's records are, as they were asked for")
      ->check(CLI::IsMember({"hour", "day", "month"}));
  command->add_flag("--recursive", options->deep, "Files in subfolders too");
  command->add_flag("--strict", options->strict, "Exit with 1 where a row was kept aside");
  command->footer(examples_of("import"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
