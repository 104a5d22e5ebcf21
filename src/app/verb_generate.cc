// generate: a FOCUS bill for an inventory, at real list prices, that says that it is generated.
#include <fmt/format.h>

#include "app/catalog_file.h"
#include "app/file.h"
#include "app/importer.h"
#include "app/selection.h"
#include "app/verb.h"
#include "report/focus_csv.h"
#include "report/number_format.h"
#include "simulate/generate_bill.h"
#include "store/memory/memory_store.h"

namespace pennyweight {
namespace {

constexpr std::size_t kLinesAtOnce = 4096;

struct GenerateArguments {
  std::vector<std::string> nodes;
  std::string cluster;
  std::string from;
  std::string to;
  std::string prices_as_of;
  std::string provider = "aws";
  std::string region;
  std::string focus = "1.4";
  std::string out = "-";
  std::uint64_t seed = 1;
  bool hourly = false;
};

Result<BillOptions> bill_options(const GenerateArguments& arguments) {
  const auto first = parse_date(arguments.from);
  if (!first) return std::unexpected(first.error().during("--from"));
  const auto last = parse_date(arguments.to);
  if (!last) return std::unexpected(last.error().during("--to"));
  BillOptions options;
  options.seed = arguments.seed;
  options.first_day = *first;
  options.last_day = *last;
  options.granularity = arguments.hourly ? BillGranularity::kHourly : BillGranularity::kDaily;
  options.provider = arguments.provider;
  options.region = arguments.region;
  if (!arguments.prices_as_of.empty()) {
    const auto date = parse_date(arguments.prices_as_of);
    if (!date) return std::unexpected(date.error().during("--prices-as-of"));
    options.prices_as_of = Instant(*date);
  }
  if (options.last_day < options.first_day) {
    return wrong_usage(fmt::format("--to {} is before --from {}", arguments.to, arguments.from));
  }
  return options;
}

// The nodes of the files, read as `import` reads them, into a ledger that is thrown away.
Result<std::vector<Node>> read_nodes(const GenerateArguments& arguments, Context& context) {
  const auto store = make_memory_store();
  ImportOptions options;
  options.cluster = arguments.cluster;
  const auto from = parse_instant(arguments.from);
  if (from) options.from = *from;
  for (const std::string& path : arguments.nodes) {
    const auto file =
        import_file(*store, path, options, context.config, context.console, context.clock);
    if (!file) return std::unexpected(file.error());
    for (const RejectedRow& row : file->rejected) {
      context.console.warn(fmt::format("{}:{}: {}", row.file, row.line, row.reason));
    }
    if (file->outcome.nodes.created == 0) {
      return fail(ErrorCode::kBadFile, fmt::format("{} holds no nodes", path));
    }
  }
  return store->nodes();
}

// The bill is made twice: once to learn its columns, once to write it, so that memory does not
// depend on its length.
Result<BillTotals> write_bill(const std::vector<Node>& nodes, const Catalog& catalog,
                              const BillOptions& options, const GenerateArguments& arguments) {
  FocusCsv csv(arguments.focus == "1.3" ? FocusVersion::k1_3 : FocusVersion::k1_4);
  const auto noted = generate_bill(nodes, catalog, options,
                                   [&](const Charge& charge) { return csv.note({&charge, 1}); });
  if (!noted) return noted;

  auto file = OutputFile::create(arguments.out);
  if (!file) return std::unexpected(file.error());
  std::string text = csv.header();
  std::vector<Charge> lines;
  const auto flush = [&]() -> Result<void> {
    if (auto written = csv.rows(lines, text); !written) return written;
    lines.clear();
    auto written = file->write(text);
    text.clear();
    return written;
  };
  const auto totals = generate_bill(nodes, catalog, options, [&](const Charge& charge) {
    lines.push_back(charge);
    return lines.size() < kLinesAtOnce ? Result<void>{} : flush();
  });
  if (!totals) return totals;
  if (auto written = flush(); !written) return std::unexpected(written.error());
  if (auto committed = file->commit(); !committed) return std::unexpected(committed.error());
  return totals;
}

Result<ExitCode> run_bill(const GenerateArguments& arguments, Context& context) {
  const auto options = bill_options(arguments);
  if (!options) return std::unexpected(options.error());
  const auto catalog = load_catalog(context.config);
  if (!catalog) return std::unexpected(catalog.error());
  const auto nodes = read_nodes(arguments, context);
  if (!nodes) return std::unexpected(nodes.error());
  const auto totals = write_bill(*nodes, *catalog, *options, arguments);
  if (!totals) return std::unexpected(totals.error());
  context.console.say(
      fmt::format("generated {} bill lines for {} nodes: billed {} {}",
                  format_count(totals->lines, Thousands::kSeparated),
                  format_count(nodes->size(), Thousands::kSeparated),
                  format_rounded(totals->costs.billed.amount(), 2, Thousands::kSeparated),
                  totals->costs.currency().text()));
  return ExitCode::kDone;
}

}  // namespace

Verb declare_generate(CLI::App& app) {
  const auto options = std::make_shared<GenerateArguments>();
  CLI::App* command = app.add_subcommand("generate", "Make a bill for demonstrations and tests");
  CLI::App* bill =
      command->add_subcommand("bill", "A FOCUS bill for an inventory, at real list prices");
  command->require_subcommand(1);
  bill->add_option("--nodes", options->nodes, "Inventories of nodes")->required();
  bill->add_option("--cluster", options->cluster, "The cluster of nodes that name none");
  bill->add_option("--from", options->from, "The first day (UTC), such as 2026-03-01")->required();
  bill->add_option("--to", options->to, "The last day, inclusive")->required();
  bill->add_option("--prices-as-of", options->prices_as_of,
                   "Take the prices of this day, for records older than the lists");
  bill->add_option("--provider", options->provider, "Who bills")->capture_default_str();
  bill->add_option("--region", options->region, "Of nodes that name none; else the cheapest");
  bill->add_option("--seed", options->seed, "Another seed, another bill")->capture_default_str();
  bill->add_flag("--hourly", options->hourly, "A line for each node and hour, not for each day");
  bill->add_option("--focus", options->focus, "The version of FOCUS")
      ->check(CLI::IsMember({"1.3", "1.4"}))
      ->capture_default_str();
  bill->add_option("--out", options->out, "The file to write; - for standard output")
      ->capture_default_str();
  command->footer(examples_of("generate"));
  bill->footer(examples_of("generate"));
  return {command, [options](Context& context) { return run_bill(*options, context); }};
}

}  // namespace pennyweight
