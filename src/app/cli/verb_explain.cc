// explain: explains a row of a report, or a charge, down to the arithmetic of one posting.
#include <fmt/format.h>

#include <utility>

#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "app/context/catalog_file.h"
#include "core/try.h"
#include "reporting/outline.h"
#include "reporting/queries/explain.h"

namespace pennyweight {
namespace {

struct ExplainOptions {
  ExplainQuery query;
  TableOptions table;
};

void print(const ExplainResult& answer, const ExplainOptions& options, const Context& context) {
  const std::vector<OutlineSection> sections = outline_explanation(answer.explanation);
  const TextStyle style = context.console.style(options.table.digits);
  if (options.table.format == "json") {
    context.console.print(fmt::format("{{\"postings\": {},\n\"steps\": {},\n\"exact\": {}}}\n",
                                      render_json({answer.table}), render_json(sections),
                                      answer.explanation.exact));
    return;
  }
  context.console.print(render_text(answer.table, style) +
                        "\nHow the first posting is calculated\n\n" + render_text(sections, style));
}

Result<ExitCode> run(const ExplainOptions& options, Context& context) {
  const ExplainQuery& query = options.query;
  if (query.charge.empty() == query.key.empty()) {
    return usage_error("name what to explain: --charge ID, or --by DIMENSION --key VALUE");
  }
  const auto store = TRY(open_ledger(context.config));
  auto postings = find_postings(*store, query, context.config.policy);
  if (!postings) return as_usage_error(postings.error());
  const auto catalog = TRY(load_catalog(context.config));
  const auto answer =
      TRY(explain_postings(*store, query, *std::move(postings), context.config, catalog));
  for (const std::string& warning : answer.warnings) context.console.warn(warning);
  TRY(warn_of_staleness(*store, "", context));
  print(answer, options, context);
  if (answer.explanation.exact) return ExitCode::kDone;
  return fail(ErrorCode::kConflict,
              "the stored postings differ from what the rules give; run 'pennyweight reconcile'");
}

}  // namespace

Verb declare_explain(CLI::App& app) {
  const auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "Explain an amount step by step");
  command->add_option("--charge", options->query.charge, "The id of a bill line");
  command->add_option("--by", options->query.by, "The dimensions of a report")
      ->capture_default_str();
  command->add_option("--key", options->query.key, "The key of its row, as the report shows it");
  add_date_options(*command, options->query.dates);
  command->add_option("--top", options->query.top, "List this many of the largest postings")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command->add_option("--format", options->table.format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command
      ->add_option("--digits", options->table.digits,
                   "Digits of money in text; default: those of its currency")
      ->check(CLI::Range(0, Decimal::kFractionDigits));
  command->footer(examples_footer("explain"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
