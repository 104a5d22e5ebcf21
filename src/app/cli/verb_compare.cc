// compare: compares a month under two policies, or with the formulas of other products.
#include <fmt/format.h>

#include <filesystem>
#include <thread>

#include "app/cli/comparison_table.h"
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "app/context/catalog_file.h"
#include "config/policy_document.h"
#include "core/files/file.h"
#include "core/limits.h"
#include "core/try.h"
#include "insight/compare/comparison.h"
#include "reporting/queries/ledger_month.h"
#include "reporting/queries/telemetry_source.h"

namespace pennyweight {
namespace {

struct CompareOptions {
  std::string a = "current";
  std::vector<std::string> b;
  std::string month;
  std::vector<std::string> by = {"team"};
  std::string cost = "effective";
  std::optional<unsigned> threads;
  TableOptions table;
};

std::vector<std::string> at_commas(const std::vector<std::string>& texts) {
  std::vector<std::string> parts;
  for (const std::string& text : texts) {
    std::size_t begin = 0;
    for (;;) {
      const std::size_t comma = text.find(',', begin);
      const std::string part = text.substr(begin, comma - begin);
      if (!part.empty()) parts.push_back(part);
      if (comma == std::string::npos) break;
      begin = comma + 1;
    }
  }
  return parts;
}

// "current", a preset, or a policy file.
Result<Method> parse_method(const std::string& text, const Config& config) {
  if (text == "current") return Method{text, config.policy};
  if (const auto preset = parse_preset(text)) return Method{text, *preset};
  std::error_code ignored;
  if (!std::filesystem::exists(text, ignored)) {
    return usage_error(
        fmt::format("'{}' is not a file; use a policy file, 'current', or one of the presets "
                    "opencost, aws_scad and koku",
                    text));
  }
  const auto yaml = TRY(read_file(text, limits::kConfigBytesMax));
  auto policy = TRY(parse_policy(yaml, text, config.policy));
  return Method{std::filesystem::path(text).stem().string(), std::move(policy)};
}

Result<std::vector<Method>> parse_methods(const CompareOptions& options, const Config& config) {
  std::vector<std::string> texts = {options.a};
  for (std::string& text : at_commas(options.b)) texts.push_back(std::move(text));
  if (texts.size() < 2) return usage_error("--b is empty; name what to compare with");
  std::vector<Method> methods;
  for (const std::string& text : texts) {
    auto method = TRY(parse_method(text, config));
    // Two files with one name, or "current" twice.
    const std::string name = method.name;
    for (int n = 2; std::any_of(methods.begin(), methods.end(),
                                [&](const Method& other) { return other.name == method.name; });
         ++n) {
      method.name = fmt::format("{} ({})", name, n);
    }
    methods.push_back(std::move(method));
  }
  return methods;
}

Result<std::vector<std::string>> dimensions_of(const CompareOptions& options,
                                               std::span<const Method> methods,
                                               const Policy& current) {
  std::vector<std::string> by = at_commas(options.by);
  for (const std::string& dimension : by) {
    bool known = is_comparable(dimension, current);
    for (const Method& method : methods) {
      const Policy* policy = std::get_if<Policy>(&method.rule);
      known = known || (policy != nullptr && is_comparable(dimension, *policy));
    }
    if (known) continue;
    std::string list;
    for (const DimensionRule& rule : current.dimensions) list += rule.dimension + ", ";
    return usage_error(
        fmt::format("'{}' is not a dimension to compare by; use {}cluster, node, workload, kind",
                    dimension, list));
  }
  if (by.empty()) return usage_error("--by is empty; name a dimension");
  return by;
}

// A cluster's telemetry, read by the rules of the given policy.
std::function<UtilizationSource(const UsageRules&)> telemetry(Store& store,
                                                              const ClusterId& cluster,
                                                              const std::vector<Gpu>& gpus) {
  if (cluster.empty()) return {};
  return [&store, cluster, &gpus](const UsageRules& rules) {
    return telemetry_source(store, cluster, gpus, rules);
  };
}

Result<ExitCode> run(const CompareOptions& options, Context& context) {
  const auto methods = TRY(parse_methods(options, context.config));
  const auto by = dimensions_of(options, methods, context.config.policy);
  if (!by) return std::unexpected(by.error());
  const auto catalog = TRY(load_catalog(context.config));
  const auto store = TRY(open_ledger(context.config));
  const auto name = TRY(choose_month(options.month, *store));
  auto month = TRY(LedgerMonth::load(*store, name, context.config.join_rules));

  const std::vector<ClusterId> ids = month.clusters();
  std::vector<ClusterFacts> facts;
  facts.reserve(ids.size());
  std::vector<ComparedCluster> clusters;
  for (const ClusterId& id : ids) {
    auto loaded = TRY(month.take_facts(*store, id));
    const ClusterFacts& here = facts.emplace_back(std::move(loaded));
    clusters.push_back({.facts = {.cluster = id,
                                  .charges = here.charges,
                                  .nodes = here.nodes,
                                  .gpus = here.gpus,
                                  .holdings = here.holdings,
                                  .catalog = catalog,
                                  .join_rules = context.config.join_rules},
                        .outages = here.outages,
                        .corrections = here.corrections,
                        .utilization = telemetry(*store, id, here.gpus)});
  }
  const auto comparisons =
      TRY(compare({.month = name,
                   .clusters = clusters,
                   .methods = methods,
                   .owners = context.config.policy,
                   .by = *by,
                   .cost = cost_named(options.cost),
                   .threads = resolve_threads(options.threads, context.config)}));
  const std::string title =
      fmt::format("{} by {}, {} cost", name, fmt::join(*by, ", "), options.cost);
  print_tables(comparison_tables(comparisons, methods, *by, title), options.table, context);
  return ExitCode::kDone;
}

}  // namespace

Verb declare_compare(CLI::App& app) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand(
      "compare", "Compare a month under two policies, or other products' formulas; writes nothing");
  command
      ->add_option("--a", options->a,
                   "'current', a policy file, or a preset: opencost, aws_scad, koku")
      ->capture_default_str();
  command
      ->add_option("--b", options->b,
                   "The same; several, separated by commas, are shown side by side")
      ->required();
  command->add_option("--month", options->month,
                      "The billing month; optional if the ledger has only one");
  command->add_option("--by", options->by, "Dimensions, separated by commas")
      ->capture_default_str();
  add_cost_option(*command, options->cost);
  add_threads_option(*command, options->threads);
  add_table_options(*command, options->table);
  command->footer(examples_footer("compare"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
