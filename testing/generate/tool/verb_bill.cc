// bill: generates a bill for an inventory at real list prices, marked as generated: in FOCUS, or in
// the format of a provider, with its true sums in a second file.
#include "testing/generate/tool/verb_bill.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <set>
#include <system_error>

#include "app/cli/verb.h"
#include "app/context/catalog_file.h"
#include "app/import/importer.h"
#include "core/files/file.h"
#include "core/try.h"
#include "reporting/export/focus_csv.h"
#include "reporting/number_format.h"
#include "reporting/queries/selection.h"
#include "testing/generate/bills/made_up_fleet.h"
#include "testing/generate/bills/native_bill.h"
#include "testing/generate/bills/native_parquet.h"
#include "testing/generate/generate_bill.h"
#include "testing/memory_store/memory_store.h"

namespace pennyweight {
namespace {

constexpr std::size_t kLinesAtOnce = 4096;

struct GenerateArguments {
  std::vector<std::string> nodes;
  std::string cluster;
  std::string from;
  std::string to;
  std::string prices_as_of;
  std::string provider;  // empty: as the machines say
  std::string region;
  std::string as = "focus";
  std::string focus = "1.4";
  std::string edp = "lines";
  std::string agreement = "ea";
  std::string truth;
  std::uint32_t made_up_nodes = 0;
  std::uint32_t clusters = 2;
  bool hostile = false;
  bool parquet = false;
  std::string out = "-";
  std::uint64_t seed = 1;
  bool hourly = false;
};

Result<BillOptions> bill_options(const GenerateArguments& arguments) {
  const auto first = parse_day(arguments.from);
  if (!first) return as_usage_error(first.error().during("--from"));
  const auto last = parse_day(arguments.to);
  if (!last) return as_usage_error(last.error().during("--to"));
  BillOptions options;
  options.seed = arguments.seed;
  options.first_day = *first;
  options.last_day = *last;
  options.granularity = arguments.hourly ? BillGranularity::kHourly : BillGranularity::kDaily;
  if (!arguments.provider.empty()) options.provider = arguments.provider;
  options.region = arguments.region;
  if (!arguments.prices_as_of.empty()) {
    const auto date = parse_day(arguments.prices_as_of);
    if (!date) return as_usage_error(date.error().during("--prices-as-of"));
    options.prices_as_of = Instant(*date);
  }
  if (options.last_day < options.first_day) {
    return usage_error(fmt::format("--to {} is before --from {}", arguments.to, arguments.from));
  }
  return options;
}

// The nodes of the files, imported into a temporary ledger.
Result<std::vector<Node>> read_nodes(const GenerateArguments& arguments, Context& context) {
  const auto store = make_memory_store();
  ImportOptions options;
  options.cluster = arguments.cluster;
  const auto from = parse_instant(arguments.from);
  if (from) options.from = *from;
  for (const std::string& path : arguments.nodes) {
    const auto file =
        TRY(import_file(*store, path, options, context.config, context.console, context.clock));
    for (const RejectedRow& row : file.rejected) {
      context.console.warn(fmt::format("{}:{}: {}", row.file, row.line, row.reason));
    }
    if (file.outcome.nodes.created == 0) {
      return fail(ErrorCode::kBadFile, fmt::format("{} holds no nodes", path));
    }
  }
  return store->nodes();
}

// The bill is generated twice: once to find its columns and once to write it, so that memory does
// not depend on its length.
Result<BillTotals> write_bill(const std::vector<Node>& nodes, const Catalog& catalog,
                              const BillOptions& options, const GenerateArguments& arguments) {
  FocusCsv csv(arguments.focus == "1.3" ? FocusVersion::k1_3 : FocusVersion::k1_4);
  const auto noted = generate_bill(nodes, catalog, options,
                                   [&](const Charge& charge) { return csv.note({&charge, 1}); });
  if (!noted) return noted;

  auto file = TRY(OutputFile::create(arguments.out));
  std::string text = csv.header();
  std::vector<Charge> lines;
  const auto flush = [&]() -> Result<void> {
    TRY(csv.rows(lines, text));
    lines.clear();
    auto written = file.write(text);
    text.clear();
    return written;
  };
  const auto totals = generate_bill(nodes, catalog, options, [&](const Charge& charge) {
    lines.push_back(charge);
    return lines.size() < kLinesAtOnce ? Result<void>{} : flush();
  });
  if (!totals) return totals;
  TRY(flush());
  TRY(file.commit());
  return totals;
}

// In the provider's format. A made-up fleet has the instance types that have a price at the date of
// the bill.
Result<bills::NativeBillOptions> native_options(const GenerateArguments& arguments,
                                                bills::NativeForm form) {
  auto options = TRY(bill_options(arguments));
  bills::NativeBillOptions native;
  native.bill = std::move(options);
  native.form = form;
  native.hostile = arguments.hostile;
  native.aws_discount = arguments.edp == "none"  ? bills::AwsDiscount::kNone
                        : arguments.edp == "net" ? bills::AwsDiscount::kNetColumns
                                                 : bills::AwsDiscount::kLines;
  native.azure_agreement = arguments.agreement == "mca" ? bills::AzureAgreement::kCustomer
                                                        : bills::AzureAgreement::kEnterprise;
  return native;
}

Result<std::vector<Node>> nodes_of(const GenerateArguments& arguments, std::string_view provider,
                                   const BillOptions& options, const Catalog& catalog,
                                   Context& context) {
  if (arguments.made_up_nodes == 0) return read_nodes(arguments, context);
  return bills::made_up_fleet(
      {.seed = arguments.seed,
       .provider = std::string(provider.empty() ? std::string_view(options.provider) : provider),
       .nodes = arguments.made_up_nodes,
       .clusters = arguments.clusters,
       .prices_at = options.prices_as_of.value_or(Instant(options.first_day)),
       .from = Instant(options.first_day)},
      catalog);
}

// The provider whose instance types the machines are. One bill has one issuer.
Result<std::string> provider_of(const std::vector<Node>& nodes, const Catalog& catalog,
                                const std::string& otherwise) {
  const std::set<std::string> providers = providers_of(nodes, catalog);
  if (providers.empty()) return otherwise;
  if (providers.size() == 1) return *providers.begin();
  return usage_error(
      fmt::format("the machines are of {}, and one bill has one issuer: write an inventory and a "
                  "bill for each, or say with --provider who bills all of them",
                  fmt::join(providers, " and ")));
}

Result<void> write_text(const std::string& path, std::string_view text) {
  auto file = TRY(OutputFile::create(path));
  TRY(file.write(text));
  return file.commit();
}

Result<bills::BillTruth> write_native(const std::vector<Node>& nodes, const Catalog& catalog,
                                      const bills::NativeBillOptions& options,
                                      const std::string& path) {
  auto file = TRY(OutputFile::create(path));
  auto truth = bills::write_native_bill(nodes, catalog, options,
                                        [&](std::string_view text) { return file.write(text); });
  if (!truth) return truth;
  TRY(file.commit());
  return truth;
}

Result<ExitCode> run_native(const GenerateArguments& arguments, bills::NativeForm form,
                            Context& context) {
  const auto options = TRY(native_options(arguments, form));
  if (arguments.parquet && !bills::can_be_parquet(form)) {
    return usage_error(fmt::format("--parquet is for {}", bills::parquet_forms()));
  }
  if (arguments.parquet && arguments.out == "-") return usage_error("--parquet needs --out FILE");
  const auto catalog = TRY(load_catalog(context.config));
  const auto nodes = nodes_of(arguments, bills::provider_of(form), options.bill, catalog, context);
  if (!nodes) return std::unexpected(nodes.error());
  const std::string path = arguments.parquet ? arguments.out + ".text" : arguments.out;
  const auto truth = TRY(write_native(*nodes, catalog, options, path));
  if (arguments.parquet) {
    const auto done = bills::text_to_parquet(path, options, arguments.out);
    std::error_code ignored;  // files left behind do no harm
    std::filesystem::remove(path, ignored);
    if (!done) return std::unexpected(done.error());
  }
  if (!arguments.truth.empty()) {
    TRY(write_text(arguments.truth, bills::to_json(truth)));
  }
  context.console.say(
      fmt::format("generated {} rows of {} for {} nodes: billed {} {}, effective {}",
                  format_count(truth.rows, Thousands::kSeparated), arguments.as,
                  format_count(nodes->size(), Thousands::kSeparated),
                  format_rounded(truth.billed(), 2, Thousands::kSeparated), truth.currency.text(),
                  format_rounded(truth.effective(), 2, Thousands::kSeparated)));
  return ExitCode::kDone;
}

Result<ExitCode> run_focus(const GenerateArguments& arguments, Context& context) {
  auto options = TRY(bill_options(arguments));
  const auto catalog = TRY(load_catalog(context.config));
  const auto nodes = nodes_of(arguments, "", options, catalog, context);
  if (!nodes) return std::unexpected(nodes.error());
  if (arguments.provider.empty()) {
    auto provider = TRY(provider_of(*nodes, catalog, options.provider));
    options.provider = std::move(provider);
  }
  const auto totals = TRY(write_bill(*nodes, catalog, options, arguments));
  context.console.say(
      fmt::format("generated {} bill lines for {} nodes: billed {} {}",
                  format_count(totals.lines, Thousands::kSeparated),
                  format_count(nodes->size(), Thousands::kSeparated),
                  format_rounded(totals.costs.billed.amount(), 2, Thousands::kSeparated),
                  totals.costs.currency().text()));
  return ExitCode::kDone;
}

Result<ExitCode> run_bill(const GenerateArguments& arguments, Context& context) {
  if (arguments.nodes.empty() == (arguments.made_up_nodes == 0)) {
    return usage_error("give either --nodes FILE or --made-up-nodes COUNT");
  }
  if (const auto form = bills::parse_native_form(arguments.as)) {
    return run_native(arguments, *form, context);
  }
  if (!arguments.truth.empty()) return usage_error("--truth is for the providers' own formats");
  if (arguments.parquet) return usage_error("--parquet is for the providers' own formats");
  return run_focus(arguments, context);
}

}  // namespace

Verb declare_bill(CLI::App& app) {
  const auto options = std::make_shared<GenerateArguments>();
  CLI::App* bill = app.add_subcommand("bill", "A bill for an inventory, at real list prices");
  bill->add_option("--nodes", options->nodes, "Inventories of nodes");
  bill->add_option("--made-up-nodes", options->made_up_nodes,
                   "Without an inventory: so many GPU machines of the provider");
  bill->add_option("--made-up-clusters", options->clusters, "In so many clusters")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  bill->add_option("--as", options->as, "FOCUS, or as a provider sends it")
      ->check(CLI::IsMember({"focus", "aws-cur", "aws-cur2", "azure-actual", "azure-amortized",
                             "gcp-csv", "gcp-json", "oci", "usage-only"}))
      ->capture_default_str();
  bill->add_option("--edp", options->edp,
                   "AWS's enterprise discount: lines of its own, net columns, or none")
      ->check(CLI::IsMember({"lines", "net", "none"}))
      ->capture_default_str();
  bill->add_option("--agreement", options->agreement, "Azure's contract: ea or mca")
      ->check(CLI::IsMember({"ea", "mca"}))
      ->capture_default_str();
  bill->add_option("--truth", options->truth,
                   "Also write what the bill comes to, by team and all else, as JSON");
  bill->add_flag("--hostile", options->hostile,
                 "Tags with quotes, commas, line breaks and letters of all kinds");
  bill->add_flag("--parquet", options->parquet, "aws-cur2 and gcp-json as Parquet");
  bill->add_option("--cluster", options->cluster, "The cluster of nodes that name none");
  bill->add_option("--from", options->from, "The first day (UTC), such as 2026-03-01")->required();
  bill->add_option("--to", options->to, "The last day, inclusive")->required();
  bill->add_option("--prices-as-of", options->prices_as_of,
                   "Take the prices of this day, for records older than the lists");
  bill->add_option("--provider", options->provider,
                   "Who bills; default: whose instance types the machines are");
  bill->add_option("--region", options->region, "Of nodes that name none; else the cheapest");
  bill->add_option("--seed", options->seed, "Another seed, another bill")->capture_default_str();
  bill->add_flag("--hourly", options->hourly, "A line for each node and hour, not for each day");
  bill->add_option("--focus", options->focus, "The version of FOCUS")
      ->check(CLI::IsMember({"1.3", "1.4"}))
      ->capture_default_str();
  bill->add_option("--out", options->out, "The file to write; - for standard output")
      ->capture_default_str();
  app.footer(examples_footer("generate"));
  bill->footer(examples_footer("generate"));
  return {bill, [options](Context& context) { return run_bill(*options, context); }};
}

}  // namespace pennyweight
