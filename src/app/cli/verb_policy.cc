// policy: checks, compares and explains the allocation rules.
#include <fmt/format.h>

#include <charconv>

#include "allocation/policy/difference.h"
#include "allocation/policy/in_words.h"
#include "app/cli/verb.h"
#include "config/policy_document.h"
#include "config/policy_schema.h"
#include "config/policy_text.h"
#include "core/files/file.h"
#include "core/gpu/gpu_model.h"
#include "core/limits.h"
#include "core/try.h"

namespace pennyweight {
namespace {

constexpr std::string_view kCurrent = "current";
constexpr std::string_view kRunPrefix = "run:";
constexpr std::size_t kColumns = 100;

struct PolicyOptions {
  CLI::App* check = nullptr;
  CLI::App* diff = nullptr;
  CLI::App* explain = nullptr;
  CLI::App* show = nullptr;
  CLI::App* schema = nullptr;
  std::string which = std::string(kCurrent);  // of check, explain, show
  std::string before;
  std::string after = std::string(kCurrent);
};

struct NamedPolicy {
  std::string name;  // "chargeback.yaml", "the policy of pennyweight.yaml", "the default policy"
  PolicyReading reading;
};

Result<NamedPolicy> read_policy_file(const std::string& path, const Policy& defaults) {
  const auto text = TRY(read_file(path, limits::kConfigBytesMax));
  return NamedPolicy{path, check_policy(text, path, defaults)};
}

// Reads the configured policy again, for its warnings. Errors have ended the program before.
Result<NamedPolicy> current_policy(const Config& config) {
  NamedPolicy named;
  if (!config.policy_file.empty()) {
    const auto text = TRY(read_file(config.policy_file, limits::kConfigBytesMax));
    Config applied = config;
    named.name = config.policy_file;
    named.reading.problems = apply_policy_file(applied, text);
    named.reading.policy = std::move(applied.policy);
    return named;
  }
  named.reading.policy = config.policy;
  named.name = "the default policy";
  if (config.source.empty()) return named;
  const auto text = TRY(read_file(config.source, limits::kConfigBytesMax));
  named.name = "the policy of " + config.source;
  named.reading.problems = check_config(text, config.source).problems;
  return named;
}

// "run:lab/2026-03", "run:lab/2026-03/2"; without a number the current run.
Result<NamedPolicy> policy_of_run(std::string_view name, const Config& config) {
  const auto not_a_run = [&] {
    return usage_error(fmt::format(
        "'{}{}' is not a run; write it as run:CLUSTER/MONTH or run:CLUSTER/MONTH/NUMBER",
        kRunPrefix, name));
  };
  std::string_view rest = name;
  std::optional<std::uint64_t> number;
  std::size_t slash = rest.rfind('/');
  if (slash == std::string_view::npos) return not_a_run();
  if (!rest.substr(slash + 1).contains('-')) {
    const std::string_view digits = rest.substr(slash + 1);
    std::uint64_t value = 0;
    const auto [stop, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (problem != std::errc() || stop != digits.data() + digits.size()) return not_a_run();
    number = value;
    rest = rest.substr(0, slash);
    slash = rest.rfind('/');
    if (slash == std::string_view::npos) return not_a_run();
  }
  const Scope scope{ClusterId(std::string(rest.substr(0, slash))),
                    std::string(rest.substr(slash + 1))};
  const auto store = TRY(open_ledger(config));
  const auto runs = store->runs();
  if (!runs) return std::unexpected(runs.error());
  for (const Run& run : *runs) {
    if (run.scope != scope || (number ? run.number != *number : !run.current)) continue;
    auto policy = TRY(parse_policy_text(run.policy));
    NamedPolicy named;
    named.name = fmt::format("run {} of {} {}", run.number, scope.cluster.text(), scope.month);
    named.reading.policy = std::move(policy);
    return named;
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("there is no run {}; 'pennyweight allocate' makes runs", name));
}

Result<NamedPolicy> find_policy(const std::string& which, const Context& context) {
  if (which == kCurrent) return current_policy(context.config);
  if (which.starts_with(kRunPrefix)) {
    return policy_of_run(std::string_view(which).substr(kRunPrefix.size()), context.config);
  }
  return read_policy_file(which, context.config.policy);
}

// The policy's rules, or its first mistake.
Result<NamedPolicy> find_valid_policy(const std::string& which, const Context& context) {
  auto named = find_policy(which, context);
  if (!named) return named;
  if (const auto error = first_error(named->reading.problems)) {
    return fail(ErrorCode::kBadValue,
                error->message + "; 'pennyweight policy check' lists every mistake");
  }
  return named;
}

// Unknown models are matched by their exact name, so a typo would go unnoticed.
std::vector<std::string> unknown_models(const Policy& policy) {
  std::vector<std::string> remarks;
  for (const SharingRule& rule : policy.sharing) {
    if (rule.gpu_model.empty() || find_gpu_model(rule.gpu_model) != nullptr) continue;
    remarks.push_back(
        fmt::format("warning: policy.sharing names the GPU model '{}', which is not a known model; "
                    "the rule applies to GPUs of exactly this name",
                    rule.gpu_model));
  }
  return remarks;
}

Result<ExitCode> check(const PolicyOptions& options, const Context& context) {
  const auto named = TRY(find_policy(options.which, context));
  std::size_t errors = 0;
  std::size_t warnings = 0;
  std::string out;
  for (const Problem& problem : named.reading.problems) {
    out += problem.message + "\n";
    ++(problem.is_warning ? warnings : errors);
  }
  if (errors == 0) {
    for (const std::string& remark : unknown_models(named.reading.policy)) {
      out += fmt::format("{}: {}\n", named.name, remark);
      ++warnings;
    }
  }
  const auto plural = [](std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  out +=
      fmt::format("{}: {}, {}", named.name, plural(errors, "error"), plural(warnings, "warning"));
  if (errors == 0) out += fmt::format("; fingerprint {}", to_text(named.reading.policy.version()));
  context.console.print(out + "\n");
  return errors == 0 ? ExitCode::kDone : ExitCode::kCheckFailed;
}

// Wraps at spaces; all lines have the first one's indent.
std::string wrapped(std::string_view text, std::string_view first, std::string_view further) {
  std::string out(first);
  std::size_t column = first.size();
  bool begins = true;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!begins && column + 1 + word.size() > kColumns) {
      out += "\n";
      out += further;
      column = further.size();
      begins = true;
    }
    if (!begins) out += ' ';
    out += word;
    column += word.size() + (begins ? 0 : 1);
    begins = false;
  }
  return out + "\n";
}

Result<ExitCode> explain_in_words(const PolicyOptions& options, const Context& context) {
  const auto named = TRY(find_valid_policy(options.which, context));
  std::string out;
  for (const PolicySection& section : policy_in_words(named.reading.policy)) {
    if (!out.empty()) out += "\n";
    out += context.console.bold(section.title) + "\n";
    for (const std::string& sentence : section.sentences) out += wrapped(sentence, "  ", "  ");
  }
  context.console.print(out);
  return ExitCode::kDone;
}

std::string marked(const ChangedLine& line, std::string_view indent) {
  const char mark = line.side == ChangedLine::Side::kBefore ? '-' : '+';
  return wrapped(line.line, fmt::format("{}{} ", indent, mark), fmt::format("{}  ", indent));
}

Result<ExitCode> diff(const PolicyOptions& options, const Context& context) {
  const auto before = TRY(find_valid_policy(options.before, context));
  const auto after = TRY(find_valid_policy(options.after, context));
  const PolicyDifference found = diff_policies(before.reading.policy, after.reading.policy);
  if (found == PolicyDifference()) {
    context.console.print(fmt::format("{} and {} are the same policy\n", before.name, after.name));
    return ExitCode::kDone;
  }
  std::string out = fmt::format("- {}\n+ {}\n", before.name, after.name);
  for (const ChangedSection& section : found.in_words) {
    out += "\n" + context.console.bold(section.title) + "\n";
    for (const ChangedLine& line : section.lines) out += marked(line, "  ");
  }
  out += "\n" + context.console.bold("Canonical text") + "\n";
  for (const ChangedLine& line : found.text) {
    // Unwrapped, so that it can be copied.
    out += fmt::format("  {} {}\n", line.side == ChangedLine::Side::kBefore ? '-' : '+', line.line);
  }
  context.console.print(out);
  return ExitCode::kCheckFailed;
}

Result<ExitCode> show(const PolicyOptions& options, const Context& context) {
  const auto named = TRY(find_valid_policy(options.which, context));
  context.console.print(named.reading.policy.text());
  return ExitCode::kDone;
}

Result<ExitCode> run(const PolicyOptions& options, const Context& context) {
  if (options.check->parsed()) return check(options, context);
  if (options.diff->parsed()) return diff(options, context);
  if (options.explain->parsed()) return explain_in_words(options, context);
  if (options.show->parsed()) return show(options, context);
  context.console.print(embedded::policy_schema_json());
  return ExitCode::kDone;
}

}  // namespace

Verb declare_policy(CLI::App& app) {
  const auto options = std::make_shared<PolicyOptions>();
  CLI::App* command =
      app.add_subcommand("policy", "Check, compare and explain the allocation rules");
  command->require_subcommand(1);
  const char* const which =
      "A policy file, or run:CLUSTER/MONTH for the policy of a run; default: the "
      "configured policy";
  options->check =
      command->add_subcommand("check", "List every mistake; exit code 1 if there is one");
  options->check->add_option("FILE", options->which, which);
  options->explain = command->add_subcommand("explain", "Explain the policy in plain words");
  options->explain->add_option("FILE", options->which, which);
  options->show =
      command->add_subcommand("show", "Print the whole policy with its defaults, as YAML");
  options->show->add_option("FILE", options->which, which);
  options->diff = command->add_subcommand(
      "diff", "Show the differences by rule and line; exit code 1 if there are any");
  options->diff
      ->add_option("BEFORE", options->before, "A file, 'current' or run:CLUSTER/MONTH/NUMBER")
      ->required();
  options->diff->add_option("AFTER", options->after, "As BEFORE; default: the configured policy");
  options->schema =
      command->add_subcommand("schema", "Print the JSON Schema of policy files, for editors");
  command->footer(examples_footer("policy"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
