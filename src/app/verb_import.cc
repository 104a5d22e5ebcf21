// import: files into the ledger, each all or nothing.
#include <fmt/format.h>

#include <filesystem>

#include "app/file.h"
#include "app/importer.h"
#include "app/table_options.h"
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
         outcome.corrections.conflicts;
}

std::string summary_of(const std::string& path, const FileImport& file, const Console& console) {
  const ImportOutcome& outcome = file.outcome;
  std::string text =
      fmt::format("{}  {}\n", console.bold(printable(path)), description_of(file.format));
  const struct {
    const FactCounts& counts;
    std::string_view name;
  } kinds[] = {{outcome.charges, "bill line"},
               {outcome.holdings, "holding"},
               {outcome.nodes, "node"},
               {outcome.gpus, "GPU"},
               {outcome.usages, "usage sample"},
               {outcome.outages, "outage"},
               {outcome.corrections, "correction"}};
  bool nothing = true;
  for (const auto& [counts, name] : kinds) {
    if (!has_any(counts)) continue;
    text += counted(counts, name);
    nothing = false;
  }
  if (nothing) text += "  nothing to keep\n";
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
    const std::string column = row.column.empty() ? "" : fmt::format(" {}:", row.column);
    console.warn(fmt::format("{}{}:{} {}", row.file, line, column, row.reason));
  }
  if (file.outcome.rejected > file.rejected.size()) {
    console.warn(fmt::format("… and {} rows more; 'pennyweight reconcile' lists them",
                             file.outcome.rejected - file.rejected.size()));
  }
}

// Files as given, and the files of folders in the order of their names. What can't be listed stays,
// so that opening it gives the error.
std::vector<std::string> files_of_paths(const std::vector<std::string>& paths,
                                        const Console& console) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) {
      files.push_back(path);
      continue;
    }
    auto inside = files_of(path);
    if (!inside) {
      files.push_back(path);
      continue;
    }
    if (inside->empty()) console.warn(fmt::format("{} holds no files", path));
    files.insert(files.end(), inside->begin(), inside->end());
  }
  return files;
}

Result<ExitCode> run(const ImportArguments& arguments, Context& context) {
  const auto options = options_of(arguments);
  if (!options) return std::unexpected(options.error());
  const std::vector<std::string> files = files_of_paths(arguments.paths, context.console);
  const auto store = create_ledger(context.config);
  if (!store) return std::unexpected(store.error());

  std::uint64_t failed = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t rejected = 0;
  for (const std::string& path : files) {
    const auto imported =
        import_file(**store, path, *options, context.config, context.console, context.clock);
    if (!imported) {
      if (imported.error().code == ErrorCode::kConfig) return std::unexpected(imported.error());
      context.console.complain(imported.error());
      ++failed;
      continue;
    }
    context.console.print(summary_of(path, *imported, context.console));
    warn_of_rejected(*imported, context.console);
    conflicts += conflicts_of(imported->outcome);
    rejected += imported->outcome.rejected;
  }
  if (failed > 0) {
    return fail(ErrorCode::kBadFile,
                fmt::format("{} of {} files could not be imported; nothing of them was kept",
                            failed, files.size()));
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
  command->add_flag("--strict", options->strict, "Exit with 1 where a row was kept aside");
  command->footer(examples_of("import"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
