// explain: from a row of a report, or a bill line, down to the arithmetic of one posting.
#include <fmt/format.h>

#include <utility>

#include "app/catalog_file.h"
#include "app/table_options.h"
#include "app/verb.h"
#include "questions/explain.h"
#include "report/outline.h"

namespace pennyweight {
namespace {

struct ExplainOptions {
  ExplainQuestion question;
  TableOptions table;
};

void print(const ExplainAnswer& answer, const ExplainOptions& options, const Context& context) {
  const std::vector<OutlineSection> sections = outline_of(answer.explanation);
  const TextStyle style = context.console.style(options.table.digits);
  if (options.table.format == "json") {
    context.console.print(fmt::format("{{\"postings\": {},\n\"steps\": {},\n\"exact\": {}}}\n",
                                      render_json({answer.table}), render_json(sections),
                                      answer.explanation.exact));
    return;
  }
  context.console.print(render_text(answer.table, style) +
                        "\nWhy the first of them is what it is\n\n" + render_text(sections, style));
}

Result<ExitCode> run(const ExplainOptions& options, Context& context) {
  const ExplainQuestion& question = options.question;
  if (question.charge.empty() == question.key.empty()) {
    return wrong_usage("say what to explain: --charge ID, or --by DIMENSION --key VALUE");
  }
  const auto store = open_ledger(context.config);
  if (!store) return std::unexpected(store.error());
  auto postings = find_postings(**store, question, context.config.policy);
  if (!postings) return as_usage(postings.error());
  const auto catalog = load_catalog(context.config);
  if (!catalog) return std::unexpected(catalog.error());
  const auto answer =
      ask_explain(**store, question, *std::move(postings), context.config, *catalog);
  if (!answer) return std::unexpected(answer.error());
  for (const std::string& warning : answer->warnings) context.console.warn(warning);
  print(*answer, options, context);
  if (answer->explanation.exact) return ExitCode::kDone;
  return fail(ErrorCode::kConflict,
              "the stored postings are not what the rules give; run 'pennyweight reconcile'");
}

}  // namespace

Verb declare_explain(CLI::App& app) {
  const auto options = std::make_shared<ExplainOptions>();
  CLI::App* command =
      app.add_subcommand("explain", "Say why an amount is what it is, step by step");
  command->add_option("--charge", options->question.charge, "The id of a bill line");
  command->add_option("--by", options->question.by, "The dimensions of a report …")
      ->capture_default_str();
  command->add_option("--key", options->question.key,
                      "… and the row of it, as the report shows it");
  add_date_options(*command, options->question.dates);
  command->add_option("--top", options->question.top, "How many of the largest postings to list")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command->add_option("--format", options->table.format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_option("--digits", options->table.digits, "Digits of money in text")
      ->check(CLI::Range(0, Decimal::kFractionDigits))
      ->capture_default_str();
  command->footer(examples_of("explain"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
