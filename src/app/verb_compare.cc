// compare: the same month under two policies, or beside what other products would make of it.
#include <fmt/format.h>

#include <filesystem>
#include <thread>

#include "app/catalog_file.h"
#include "app/comparison_table.h"
#include "app/file.h"
#include "app/table_options.h"
#include "app/verb.h"
#include "compare/comparison.h"
#include "config/policy_document.h"
#include "core/limits.h"
#include "questions/ledger_month.h"
#include "questions/telemetry.h"

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

// "current", a preset, or a policy's file.
Result<Method> method_of(const std::string& text, const Config& config) {
  if (text == "current") return Method{text, config.policy};
  if (const auto preset = parse_preset(text)) return Method{text, *preset};
  std::error_code ignored;
  if (!std::filesystem::exists(text, ignored)) {
    return wrong_usage(
        fmt::format("'{}' is no file; name a policy's file, 'current', or one of the presets "
                    "opencost, aws_scad and koku",
                    text));
  }
  const auto yaml = read_file(text, limits::kConfigBytesMax);
  if (!yaml) return std::unexpected(yaml.error());
  auto policy = parse_policy(*yaml, text, config.policy);
  if (!policy) return std::unexpected(policy.error());
  return Method{std::filesystem::path(text).stem().string(), std::move(*policy)};
}

Result<std::vector<Method>> methods_of(const CompareOptions& options, const Config& config) {
  std::vector<std::string> texts = {options.a};
  for (std::string& text : at_commas(options.b)) texts.push_back(std::move(text));
  if (texts.size() < 2) return wrong_usage("--b names nothing to compare with");
  std::vector<Method> methods;
  for (const std::string& text : texts) {
    auto method = method_of(text, config);
    if (!method) return std::unexpected(method.error());
    // Two files of one name, or current beside itself.
    const std::string name = method->name;
    for (int n = 2; std::any_of(methods.begin(), methods.end(),
                                [&](const Method& other) { return other.name == method->name; });
         ++n) {
      method->name = fmt::format("{} ({})", name, n);
    }
    methods.push_back(std::move(*method));
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
    return wrong_usage(
        fmt::format("'{}' is no dimension to compare by; there are {}cluster, node, workload, kind",
                    dimension, list));
  }
  if (by.empty()) return wrong_usage("--by names no dimension");
  return by;
}

Result<std::string> month_of(const CompareOptions& options, Store& store) {
  if (!options.month.empty()) {
    if (const auto month = check_month(options.month); !month) return as_usage(month.error());
  }
  const auto overview = store.overview();
  if (!overview) return std::unexpected(overview.error());
  const std::vector<std::string>& months = overview->months;
  if (months.empty()) {
    return fail(ErrorCode::kNotFound, "there are no bill lines yet; import a bill first");
  }
  if (options.month.empty()) {
    if (months.size() == 1) return months.front();
    return wrong_usage(fmt::format("there are bill lines of {} to {}; choose one with --month",
                                   months.front(), months.back()));
  }
  if (std::find(months.begin(), months.end(), options.month) == months.end()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("there are no bill lines of {}; there are some in {} to {}",
                            options.month, months.front(), months.back()));
  }
  return options.month;
}

Money Costs::* cost_of(const std::string& name) {
  if (name == "billed") return &Costs::billed;
  if (name == "list") return &Costs::list;
  if (name == "contracted") return &Costs::contracted;
  return &Costs::effective;
}

// The telemetry of a cluster from its beginning, under the rules of the policy that asks.
std::function<SeenSource(const UsageRules&)> telemetry(Store& store, const ClusterId& cluster,
                                                       const std::vector<Gpu>& gpus) {
  if (cluster.empty()) return {};
  return [&store, cluster, &gpus](const UsageRules& rules) {
    return telemetry_of(store, cluster, gpus, rules);
  };
}

Result<ExitCode> run(const CompareOptions& options, Context& context) {
  const auto methods = methods_of(options, context.config);
  if (!methods) return std::unexpected(methods.error());
  const auto by = dimensions_of(options, *methods, context.config.policy);
  if (!by) return std::unexpected(by.error());
  const auto catalog = load_catalog(context.config);
  if (!catalog) return std::unexpected(catalog.error());
  const auto store = open_ledger(context.config);
  if (!store) return std::unexpected(store.error());
  const auto name = month_of(options, **store);
  if (!name) return std::unexpected(name.error());
  auto month = LedgerMonth::load(**store, *name, context.config.join_rules);
  if (!month) return std::unexpected(month.error());

  const std::vector<ClusterId> ids = month->clusters();
  std::vector<ClusterFacts> facts;
  facts.reserve(ids.size());
  std::vector<ComparedCluster> clusters;
  for (const ClusterId& id : ids) {
    auto loaded = month->facts_of(**store, id);
    if (!loaded) return std::unexpected(loaded.error());
    const ClusterFacts& here = facts.emplace_back(std::move(*loaded));
    clusters.push_back({.facts = {.cluster = id,
                                  .charges = here.charges,
                                  .nodes = here.nodes,
                                  .gpus = here.gpus,
                                  .holdings = here.holdings,
                                  .catalog = *catalog,
                                  .join_rules = context.config.join_rules},
                        .outages = here.outages,
                        .corrections = here.corrections,
                        .seen = telemetry(**store, id, here.gpus)});
  }
  const unsigned wanted = options.threads.value_or(context.config.threads);
  const auto comparisons =
      compare({.month = *name,
               .clusters = clusters,
               .methods = *methods,
               .owners = context.config.policy,
               .by = *by,
               .cost = cost_of(options.cost),
               .threads = wanted > 0 ? wanted : std::max(1U, std::thread::hardware_concurrency())});
  if (!comparisons) return std::unexpected(comparisons.error());
  const std::string title =
      fmt::format("{} by {}, {} cost", *name, fmt::join(*by, ", "), options.cost);
  print_tables(comparison_tables(*comparisons, *methods, *by, title), options.table, context);
  return ExitCode::kDone;
}

}  // namespace

Verb declare_compare(CLI::App& app) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand(
      "compare", "Divide a month by two policies, or as other products would; nothing is written");
  command
      ->add_option("--a", options->a,
                   "'current', a policy's file, or a preset: opencost, aws_scad, koku")
      ->capture_default_str();
  command->add_option("--b", options->b, "The same; several, by commas, are set side by side")
      ->required();
  command->add_option("--month", options->month,
                      "A bill's month; may be left out where one is there");
  command->add_option("--by", options->by, "Dimensions, separated by commas")
      ->capture_default_str();
  command->add_option("--cost", options->cost, "Which of the bill's costs")
      ->check(CLI::IsMember({"effective", "billed", "list", "contracted"}))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "0: one for each core; it changes no figure")
      ->check(CLI::Range(0, 1024));
  add_table_options(*command, options->table);
  command->footer(examples_of("compare"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
