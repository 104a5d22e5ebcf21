// import: imports files into the ledger, each completely or not at all.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "app/audit_events/audit_events.h"
#include "app/cli/import_aside.h"
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "app/import/delivery_manifest.h"
#include "app/import/importer.h"
#include "app/import/incomplete_delivery.h"
#include "app/import/input_format.h"
#include "core/ascii.h"
#include "core/card_share.h"
#include "core/files/file.h"
#include "core/try.h"
#include "core/whole_count.h"
#include "ingest/bills/formats/bill_formats.h"
#include "ledger/counts_by_kind.h"
#include "reporting/number_format.h"

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
  std::string at;
  std::string columns;
  std::string delivery;
  std::string reason;
  std::string rate_card;
  std::map<std::string, std::string> bill_options;  // by bill::BillOption::key; empty: not given
  std::shared_ptr<AsideOptions> aside;
  std::vector<std::string> expected;  // "1234.56 USD"
  std::string part;
  std::string delivery_name;
  std::string not_double;
  bool deep = false;
  bool strict = false;
  bool confirm = false;
  bool preview = false;
  bool allow_aside = false;
};

Result<std::optional<Instant>> parse_instant_option(const std::string& text,
                                                    std::string_view option) {
  if (text.empty()) return std::nullopt;
  const auto parsed = parse_instant(text);
  if (!parsed) return usage_error(fmt::format("{}: {}", option, parsed.error().message));
  return *parsed;
}

// "2/3": the second of three parts.
Result<void> read_part(const ImportArguments& arguments, ImportOptions& options) {
  if (arguments.part.empty() && arguments.delivery_name.empty()) return {};
  constexpr std::uint64_t kPartsMax = 10'000;
  const std::size_t slash = arguments.part.find('/');
  const std::string_view text = arguments.part;
  const auto part = parse_count(text.substr(0, slash), kPartsMax);
  const auto parts = slash == std::string::npos
                         ? Result<std::uint64_t>(fail(ErrorCode::kConfig, "no count"))
                         : parse_count(text.substr(slash + 1), kPartsMax);
  if (arguments.delivery_name.empty() || !part || !parts || *part == 0 || *part > *parts) {
    return usage_error(
        "parts of a delivery need both: --part 1/2 (which, of how many) and --delivery-name NAME "
        "(the same for all of them)");
  }
  options.delivery = arguments.delivery_name;
  options.part = *part;
  options.parts = *parts;
  return {};
}

Result<ImportOptions> to_import_options(const ImportArguments& arguments) {
  ImportOptions options;
  TRY(read_part(arguments, options));
  for (const std::string& text : arguments.expected) {
    const std::size_t space = text.find(' ');
    const auto number = parse_decimal(std::string_view(text).substr(0, space));
    const auto currency = Currency::parse(
        space == std::string::npos ? std::string_view() : std::string_view(text).substr(space + 1));
    if (!number || !currency) {
      return usage_error(fmt::format(
          "--expect-total '{}': write an amount and a currency, such as 1234.56 USD", text));
    }
    options.expected.push_back(Money::from_decimal(number->value, *currency));
  }
  options.confirm = arguments.confirm;
  options.preview = arguments.preview;
  options.not_double = arguments.not_double;
  options.allow_aside = arguments.allow_aside;
  if (!arguments.format.empty()) options.format = find_input_format(arguments.format);
  options.cluster = arguments.cluster;
  options.node = arguments.node;
  const auto origin = parse_instant_option(arguments.origin, "--origin");
  const auto from = parse_instant_option(arguments.from, "--from");
  const auto to = parse_instant_option(arguments.to, "--to");
  const auto at = parse_instant_option(arguments.at, "--at");
  for (const auto* instant : {&origin, &from, &to, &at}) {
    if (!*instant) return std::unexpected(instant->error());
  }
  options.origin = *origin;
  options.from = *from;
  options.to = *to;
  options.at = *at;
  options.columns = arguments.columns;
  if (!options.columns.empty() && options.format == nullptr) {
    options.format = find_input_format("slurm");
  }
  options.style = parse_delivery_style(arguments.delivery);  // empty: as configured
  options.reason = arguments.reason;
  options.rate_card = arguments.rate_card;
  for (const auto& [key, value] : arguments.bill_options) {
    if (!value.empty()) options.bill_options[key] = value;
  }
  return options;
}

std::string fact_counts_text(const FactCounts& counts, std::string_view name) {
  const auto number = [](std::uint64_t count) {
    return format_count(count, Thousands::kSeparated);
  };
  std::string text = fmt::format("  {}: {} new", counted(counts.created + counts.existing, name),
                                 number(counts.created));
  if (counts.existing > 0) text += fmt::format(", {} already there", number(counts.existing));
  if (counts.repeated > 0) {
    text += ", " + counted(counts.repeated, "identical line") + " each counted";
  }
  if (counts.conflicts > 0) text += fmt::format(", {} in conflict", number(counts.conflicts));
  return text + '\n';
}

bool has_any(const FactCounts& counts) {
  return counts.created + counts.existing + counts.conflicts > 0;
}

std::uint64_t count_conflicts(const ImportOutcome& outcome) {
  std::uint64_t conflicts = 0;
  for (const auto& [name, counts] : counts_by_kind(outcome)) conflicts += counts.conflicts;
  return conflicts;
}

std::string rows_text(const char* name, const MoneyOfRows& rows) {
  std::string money;
  for (const auto& [currency, costs] : rows.costs) {
    money += fmt::format("; billed {}, effective {}, list {}, contracted {}",
                         exact_money(costs.billed), exact_money(costs.effective),
                         exact_money(costs.list), exact_money(costs.contracted));
  }
  if (rows.unreadable > 0) {
    money += fmt::format("; {} whose cost is not readable", counted(rows.unreadable, "row"));
  }
  return fmt::format("  {}: {}{}\n", name, counted(rows.rows, "row"), money);
}

// In the files = taken + set aside + passed over.
std::string describe_equation(const BillStatement& statement) {
  if (statement.aside.rows == 0 && statement.passed_over.empty()) {
    return rows_text("in the file, all taken", statement.taken);
  }
  std::string text = rows_text("in the file", statement.in_files());
  text += rows_text("taken", statement.taken);
  if (statement.aside.rows > 0) text += rows_text("set aside", statement.aside);
  for (const auto& [reason, rows] : statement.passed_over) {
    text += rows_text(fmt::format("passed over, since each {}", reason).c_str(), rows);
  }
  if (!statement.is_whole()) {
    text += "  the equation is open: the cost of the rows above is not known\n";
  }
  return text;
}

std::string describe_effect(const DeliveryEffect& effect) {
  constexpr std::size_t kAccountsShown = 40;
  std::string text;
  for (std::size_t i = 0; i < std::min(kAccountsShown, effect.accounts.size()); ++i) {
    text += fmt::format("  {}\n", printable(to_text(effect.accounts[i])));
  }
  if (effect.accounts.size() > kAccountsShown) {
    text += fmt::format("  … and {} more\n",
                        counted(effect.accounts.size() - kAccountsShown, "account"));
  }
  return text;
}

std::string describe_preview(const std::vector<std::string>& paths, const FileImport& file,
                             const Console& console) {
  std::string text =
      fmt::format("{}{}  {}\n", console.bold(printable(paths.front())),
                  paths.size() == 1 ? "" : " and " + counted(paths.size() - 1, "more file"),
                  file.format->description);
  for (const std::string& remark : file.remarks) text += fmt::format("  {}\n", printable(remark));
  text += describe_equation(file.statement) + describe_effect(file.effect);
  for (const std::string& why : file.effect.doubles) {
    text += fmt::format("  would be refused: {}\n", printable(why));
  }
  for (const std::string& why : file.effect.needs_confirm) {
    text += fmt::format("  would want --confirm: {}\n", printable(why));
  }
  return text + "  a preview: the ledger is as it was\n";
}

std::string describe_import(const std::vector<std::string>& paths, const FileImport& file,
                            const Console& console) {
  const ImportOutcome& outcome = file.outcome;
  std::string text =
      fmt::format("{}{}  {}\n", console.bold(printable(paths.front())),
                  paths.size() == 1 ? "" : " and " + counted(paths.size() - 1, "more file"),
                  file.format->description);
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
               {outcome.outcomes, file.format->outcome_name}};
  bool nothing = true;
  for (const auto& [counts, name] : kinds) {
    if (!has_any(counts)) continue;
    text += fact_counts_text(counts, name);
    nothing = false;
  }
  if (nothing && file.statement.totals.empty()) text += "  nothing to import\n";
  if (outcome.known_file) {
    text += "  imported before, line for line; differences count once\n";
  }
  if (outcome.restated.removed > 0) {
    text += fmt::format("  {} retired from open months\n",
                        counted(outcome.restated.removed, "bill line"));
  }
  if (outcome.restated.reversed > 0) {
    text += fmt::format("  {} of closed months reversed in the next open month\n",
                        counted(outcome.restated.reversed, "bill line"));
  }
  if (outcome.restated.late > 0) {
    text += fmt::format("  {} of closed months booked in the next open month\n",
                        counted(outcome.restated.late, "bill line"));
  }
  if (file.gpu_time != GpuTime()) {
    text += fmt::format("  {} GPU-hours held{}\n",
                        format_gpu_hours(file.gpu_time, 4, Thousands::kSeparated),
                        outcome.holdings.conflicts == 0
                            ? ""
                            : ", those of rows in conflict among them, which are not kept");
  }
  if (file.without_gpu_time > 0) {
    text += fmt::format("  {} of a share of a GPU, whose size depends on the node\n",
                        counted(file.without_gpu_time, "holding"));
  }
  for (const std::string& remark : file.remarks) text += fmt::format("  {}\n", printable(remark));
  if (file.format->bill != nullptr && !outcome.known_file) {
    text += describe_equation(file.statement) + describe_effect(file.effect);
  }
  if (file.statement.parts > 0) {
    text += fmt::format("  part {} of {} of {}\n", file.statement.part, file.statement.parts,
                        printable(file.statement.delivery));
  }
  return text;
}

void warn_of_rejected(const FileImport& file, const Console& console) {
  for (const RejectedRow& row : file.rejected) {
    const std::string line = row.line == 0 ? "" : fmt::format(":{}", row.line);
    // Most reasons begin with the column anyway.
    const bool is_named = row.column.empty() || row.reason.starts_with(row.column);
    const std::string column = is_named ? "" : fmt::format(" {}:", row.column);
    console.warn(fmt::format("{}{}:{} {}", row.file, line, column, row.reason));
  }
  if (file.outcome.rejected > file.rejected.size()) {
    console.warn(fmt::format("… and {} more rows; 'pennyweight reconcile' lists them",
                             file.outcome.rejected - file.rejected.size()));
  }
}

// Files without rows in the folder of an export: manifests of AWS and Azure, metadata of FOCUS,
// Spark's markers; what people put there to read; and a ledger with its audit log, under its
// default name.
bool lies_beside_bills(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  for (char& c : name) c = ascii::to_lower(c);
  return name.ends_with("manifest.json") || name.ends_with(".metadata.json") ||
         name.starts_with("readme") || name.starts_with("license") || name.starts_with('.') ||
         name.ends_with(".md") || name.ends_with(".pdf") || name == "_success" ||
         name.starts_with("_committed_") || name.starts_with("_started_") ||
         name.starts_with("pennyweight.duckdb");
}

// Files as given, those that match a pattern, and the files of folders ordered by name. A path that
// can't be listed stays in the list, so that opening it reports the error.
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
    if (inside->empty()) {
      console.warn(fmt::format("{} contains no files{}", path,
                               deep ? "" : "; --recursive includes those of its folders"));
    }
    for (const std::string& beside : *inside) {
      if (lies_beside_bills(beside))
        console.say(fmt::format("{} is skipped: it is not a bill", beside));
    }
    std::erase_if(*inside, lies_beside_bills);
    files.insert(files.end(), inside->begin(), inside->end());
  }
  return files;
}

// A replacement retires whatever its files leave out, so they form one delivery: all files if the
// command line asks for a replacement, the files of one format if they are delivered so.
std::vector<std::vector<std::string>> group_deliveries(const std::vector<std::string>& files,
                                                       const ImportOptions& options,
                                                       const Config& config) {
  if (options.style == DeliveryStyle::kReplacement && !files.empty()) return {files};
  std::vector<std::vector<std::string>> deliveries;
  std::map<const InputFormat*, std::size_t> replaced;  // index of their delivery
  const bool may_replace = !options.style && files.size() > 1;
  for (const std::string& path : files) {
    // Standard input can't be inspected; the import reports a file with errors.
    const auto format = may_replace && path != "-"
                            ? std::optional(detect_file_format(path, options))
                            : std::nullopt;
    if (format && *format &&
        delivery_style(***format, options, config) == DeliveryStyle::kReplacement) {
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

// Warns about parts of one delivery that are imported one by one: a line that occurs in two of them
// is taken for the same charge and counts once. The files don't say whether they are parts.
class PartsWatch {
 public:
  void look_at(const std::string& path, const FileImport& file, DeliveryStyle style,
               const Console& console) {
    if (file.format->bill == nullptr || style != DeliveryStyle::kGuarded) return;
    const FactCounts& lines = file.outcome.charges;
    if (lines.existing > 0 && brought_new_.contains(file.format)) {
      console.warn(
          fmt::format("{}: {} in the ledger already, although earlier files of this command had "
                      "new ones. If the files are parts of one delivery, identical lines counted "
                      "only once; import them again with --delivery replacement",
                      path, counted(lines.existing, "bill line")));
    }
    if (lines.created > 0) brought_new_.insert(file.format);
  }

 private:
  std::set<const InputFormat*> brought_new_;
};

// The ledger remembers what was refused, so that `close` can say it.
Result<ExitCode> refuse_with_intent(const IncompleteDelivery& incomplete,
                                    const std::vector<std::string>& files,
                                    const ImportOptions& options, Store& store, Context& context) {
  return with_intent(
      context, "import", files_subject(files),
      JsonObjectBuilder().text("name", names_for_audit(files)).json(), [&]() -> Result<ExitCode> {
        return std::unexpected(refuse_incomplete(store, incomplete, options, context.config,
                                                 context.console, context.clock));
      });
}

Result<ExitCode> run(const ImportArguments& arguments, Context& context) {
  if (arguments.aside->command->parsed()) return run_import_aside(*arguments.aside, context);
  if (arguments.paths.empty()) return usage_error("FILE is required: which files are imported?");
  const auto options = TRY(to_import_options(arguments));
  const std::vector<std::string> files =
      files_of_paths(arguments.paths, arguments.deep, context.console);
  std::optional<IncompleteDelivery> incomplete;
  if (options.parts == 0) incomplete = TRY(find_incomplete(files));
  const auto deliveries = group_deliveries(files, options, context.config);
  const auto store = TRY(create_ledger(context.config));
  if (incomplete) return refuse_with_intent(*incomplete, files, options, *store, context);

  std::uint64_t failed = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t rejected = 0;
  MoneyOfRows aside;
  PartsWatch parts;
  for (const std::vector<std::string>& delivery : deliveries) {
    const auto imported = import_with_intent(context, *store, delivery, options);
    if (!imported) {
      if (imported.error().code == ErrorCode::kConfig) return std::unexpected(imported.error());
      context.console.complain(imported.error());
      ++failed;
      continue;
    }
    if (options.preview) {
      if (imported->format->bill == nullptr) {
        return usage_error(fmt::format("--preview is for bills, and {} is not one: {}",
                                       delivery.front(), imported->format->description));
      }
      context.console.print(describe_preview(delivery, *imported, context.console));
      warn_of_rejected(*imported, context.console);
      continue;
    }
    context.console.print(describe_import(delivery, *imported, context.console));
    warn_of_rejected(*imported, context.console);
    parts.look_at(delivery.front(), *imported,
                  delivery_style(*imported->format, options, context.config), context.console);
    conflicts += count_conflicts(imported->outcome);
    rejected += imported->outcome.rejected;
    aside.add(imported->statement.aside);
  }
  if (failed > 0) {
    return fail(
        ErrorCode::kBadFile,
        fmt::format("{} of {} files could not be imported; nothing of them is in the ledger",
                    failed, deliveries.size()));
  }
  if (conflicts > 0) {
    return fail(
        ErrorCode::kConflict,
        counted(conflicts, "row") + " set aside, in conflict with the ledger, whose version stays");
  }
  if (aside.rows > 0 && !options.allow_aside && !options.preview) {
    return fail(ErrorCode::kBadValue,
                fmt::format("{} of bills set aside, {}: 'pennyweight import aside' lists them; "
                            "--allow-aside ends with exit code 0",
                            counted(aside.rows, "row"), billed_text(aside)));
  }
  if (rejected > 0 && arguments.strict) {
    return fail(ErrorCode::kBadValue, counted(rejected, "row") + " set aside (--strict)");
  }
  return ExitCode::kDone;
}

}  // namespace

Verb declare_import(CLI::App& app) {
  const auto options = std::make_shared<ImportArguments>();
  CLI::App* command =
      app.add_subcommand("import", "Import bills, job and pod records, inventories, telemetry");
  command->add_option("FILE", options->paths, "Files, folders, or - for standard input");
  options->aside = declare_import_aside(*command);
  command
      ->add_option("--format", options->format,
                   "The files' format; default: detected from their content")
      ->check(CLI::IsMember(input_format_names()));
  command->add_option("--cluster", options->cluster,
                      "The cluster of the records; a bill names its own");
  command->add_option("--node", options->node, "The node of nvidia-smi or DCGM output");
  command->add_option("--origin", options->origin,
                      "Second 0 of a trace whose times are seconds since its start");
  command->add_option("--from", options->from, "When the nodes of a list joined the cluster");
  command->add_option("--to", options->to, "When they left it");
  command->add_option("--columns", options->columns,
                      "The columns of sacct --noheader --parsable2, as its --format had them");
  command->add_option("--at", options->at,
                      "When a capture without times was made, such as nvidia-smi -L or what an "
                      "exporter served; default: --from, else when the file was last changed");
  command
      ->add_option(
          "--delivery", options->delivery,
          "For bills: how a delivery relates to earlier ones. replacement: the files replace what "
          "earlier deliveries said of the same accounts and months; guarded: new lines are "
          "imported, changed ones set aside; delta, ledger: the files hold differences to add. "
          "Default: 'bills' of the configuration, else as the provider delivers")
      ->check(CLI::IsMember({"guarded", "replacement", "delta", "ledger"}));
  command
      ->add_option("--expect-total", options->expected,
                   "What the bill must come to, billed, such as \"1234.56 USD\"; else it is "
                   "refused")
      ->allow_extra_args(false);
  command->add_option("--part", options->part,
                      "Which part of a delivery the files are, such as 1/2, where the others come "
                      "with other commands");
  command->add_option("--delivery-name", options->delivery_name,
                      "With --part: the name of the delivery, the same for all its parts");
  command->add_flag("--preview", options->preview,
                    "Show what the bill would change, in money, and change nothing");
  command->add_flag("--confirm", options->confirm,
                    "Take a bill that takes away more than 10 % of a month's money, or comes in "
                    "another form");
  command->add_option("--not-double", options->not_double,
                      "Why a bill that looks like cost in the ledger is other cost");
  command->add_flag("--allow-aside", options->allow_aside,
                    "End with exit code 0 although rows of a bill were set aside");
  command->add_option("--reason", options->reason,
                      "Why the bill was delivered again, for the record");
  command->add_option("--rate-card", options->rate_card,
                      "Prices for bills without costs; default: prices.rate_card");
  for (const bill::BillFormat* format : bill::bill_formats()) {
    for (const bill::BillOption& option : format->options) {
      const std::vector<std::string> choices(option.choices.begin(), option.choices.end());
      command
          ->add_option(std::string(option.flag), options->bill_options[std::string(option.key)],
                       std::string(option.help))
          ->check(CLI::IsMember(choices));
    }
  }
  command->add_flag("--recursive", options->deep, "Include files in subfolders");
  command->add_flag("--strict", options->strict, "End with exit code 1 if a row was set aside");
  command->footer(examples_footer("import"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
