// pull: fetches bills from buckets, containers and folders, and imports what is new.
#include <fmt/format.h>

#include <algorithm>

#include "app/audit_events/audit_events.h"
#include "app/cli/shared_options.h"
#include "app/cli/verb.h"
#include "app/import/delivery_effect.h"
#include "app/import/pull.h"
#include "core/try.h"
#include "reporting/number_format.h"
#include "reporting/table.h"

namespace pennyweight {
namespace {

struct PullOptions {
  std::vector<std::string> names;
  PullDecisions decisions;
};

Result<std::vector<const PullConfig*>> chosen_sources(const PullOptions& options,
                                                      const Config& config) {
  if (config.pulls.empty()) {
    return usage_error("there is nothing to pull; name sources under 'pull' in the configuration");
  }
  std::vector<const PullConfig*> chosen;
  for (const PullConfig& source : config.pulls) {
    if (options.names.empty()) chosen.push_back(&source);
  }
  for (const std::string& name : options.names) {
    const auto found = std::ranges::find(config.pulls, name, &PullConfig::name);
    if (found == config.pulls.end()) {
      std::string known;
      for (const PullConfig& source : config.pulls) {
        known += (known.empty() ? "" : ", ") + source.name;
      }
      return usage_error(fmt::format("no source is named '{}'; there are: {}", name, known));
    }
    chosen.push_back(&*found);
  }
  return chosen;
}

// What the import does in money, as `import` says it.
std::string effect_text(const FileImport& imported, bool is_preview) {
  std::string text;
  for (const AccountEffect& effect : imported.effect.accounts) {
    text += "  " + printable(to_text(effect)) + "\n";
  }
  if (!is_preview) return text;
  for (const std::string& why : imported.effect.doubles) {
    text += fmt::format("  would be refused: {}\n", printable(why));
  }
  for (const std::string& why : imported.effect.needs_confirm) {
    text += fmt::format("  would want --confirm: {}\n", printable(why));
  }
  return text + "  a preview: the ledger is as it was\n";
}

std::string describe_pulled(const PulledImport& one, bool is_preview) {
  const ImportOutcome& outcome = one.imported.outcome;
  std::string text = fmt::format("{}  {}, {}\n", one.delivery, counted(one.files.size(), "file"),
                                 one.imported.format->description);
  if (outcome.known_file) return text + "  imported before, and adds nothing\n";
  if (is_preview) return text + effect_text(one.imported, true);
  const FactCounts& lines = outcome.charges;
  text += fmt::format("  {}: {} new, {} already there",
                      counted(lines.created + lines.existing + lines.conflicts, "bill line"),
                      format_count(lines.created, Thousands::kSeparated),
                      format_count(lines.existing, Thousands::kSeparated));
  if (outcome.restated.removed > 0) text += fmt::format(", {} replaced", outcome.restated.removed);
  text += '\n';
  text += effect_text(one.imported, false);
  for (const std::string& remark : one.imported.remarks) text += "  " + printable(remark) + "\n";
  if (outcome.rejected > 0) {
    text += fmt::format("  {} set aside\n", counted(outcome.rejected, "row"));
  }
  return text;
}

Result<ExitCode> run(const PullOptions& options, Context& context) {
  const auto sources = TRY(chosen_sources(options, context.config));
  const auto store = TRY(create_ledger(context.config));
  std::uint64_t refused = 0;
  MoneyOfRows aside;
  for (const PullConfig* source : sources) {
    const auto objects = open_source(*source, context.clock);
    const auto import_delivery = [&](const std::vector<std::string>& files,
                                     const ImportOptions& how) -> Result<FileImport> {
      return import_with_intent(context, *store, files, how);
    };
    auto outcome =
        objects ? pull(*source, **objects, context.config, import_delivery, {}, options.decisions)
                : Result<PullOutcome>(std::unexpected(objects.error().during(source->name)));
    if (!outcome) {
      context.console.complain(outcome.error());
      ++refused;
      continue;
    }
    for (const PulledImport& one : outcome->imports) {
      context.console.print(describe_pulled(one, options.decisions.preview));
      aside.add(one.imported.statement.aside);
    }
    for (const Error& error : outcome->refused) context.console.complain(error);
    refused += outcome->refused.size();
    context.console.say(fmt::format("{}: {} {}, {} as before, {} refused; {} fetched", source->name,
                                    counted(outcome->imports.size(), "delivery", "deliveries"),
                                    options.decisions.preview ? "previewed" : "imported",
                                    outcome->unchanged, outcome->refused.size(),
                                    counted(outcome->bytes, "byte")));
  }
  if (aside.rows > 0 && !options.decisions.allow_aside && !options.decisions.preview) {
    return fail(ErrorCode::kBadValue,
                fmt::format("{} of bills set aside, {}: 'pennyweight import aside' lists them",
                            counted(aside.rows, "row"), billed_text(aside)));
  }
  return refused == 0 ? ExitCode::kDone : ExitCode::kCheckFailed;
}

}  // namespace

Verb declare_pull(CLI::App& app) {
  const auto options = std::make_shared<PullOptions>();
  CLI::App* command = app.add_subcommand(
      "pull", "Fetch bills from buckets, containers and folders, and import what is new");
  command->add_option("NAME", options->names, "Sources of the configuration; default: all");
  PullDecisions& decisions = options->decisions;
  command->add_flag("--preview", decisions.preview,
                    "Fetch, and print the whole effect in money, without importing anything");
  command->add_flag("--confirm", decisions.confirm,
                    "Take deliveries although they take money away, or another form's place");
  command->add_option("--not-double", decisions.not_double,
                      "Why what looks like costs that are there already are other costs");
  command->add_flag("--allow-aside", decisions.allow_aside,
                    "Take deliveries whose rows can't all be read; exit code 0");
  command->footer(examples_footer("pull"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
