#include "app/cli/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>

#include "app/context/version.h"
#include "config/nearest.h"
#include "core/check.h"
#include "core/clickhouse/address.h"
#include "core/files/file.h"
#include "core/limits.h"

namespace pennyweight {
namespace {

constexpr const char* kDefaultConfigFile = "pennyweight.yaml";
constexpr int kSoftwareError = 70;

struct GlobalOptions {
  std::string config;
  std::string store;
  std::string colour = "auto";
  bool quiet = false;
};

ColourMode colour_mode(const std::string& text) {
  if (text == "always") return ColourMode::kAlways;
  if (text == "never") return ColourMode::kNever;
  return ColourMode::kAuto;
}

void print_problems(const Console& console, const std::vector<Problem>& problems) {
  for (const Problem& problem : problems) {
    if (problem.is_warning) {
      console.say("pennyweight: " + problem.message);
    } else {
      console.complain({ErrorCode::kConfig, problem.message});
    }
  }
}

// Empty where the configuration can't be used; every problem is then reported. The verb `policy`
// reports problems of a policy file itself.
std::optional<Config> load_config(const GlobalOptions& options, bool with_policy_file,
                                  const Console& console) {
  std::string path = options.config;
  std::error_code ignored;
  if (path.empty() && std::filesystem::exists(kDefaultConfigFile, ignored)) {
    path = kDefaultConfigFile;
  }
  Config config = default_config();
  if (!path.empty()) {
    const auto text = read_file(path, limits::kConfigBytesMax);
    if (!text) {
      console.complain(text.error());
      return std::nullopt;
    }
    ConfigReading reading = check_config(*text, path);
    const bool has_error = first_error(reading.problems).has_value();
    if (has_error || with_policy_file) print_problems(console, reading.problems);
    if (has_error) return std::nullopt;
    config = std::move(reading.config);
  }
  if (with_policy_file && !config.policy_file.empty()) {
    const auto text = read_file(config.policy_file, limits::kConfigBytesMax);
    if (!text) {
      console.complain(text.error().during("the policy that " + path + " names"));
      return std::nullopt;
    }
    const std::vector<Problem> problems = apply_policy_file(config, *text);
    print_problems(console, problems);
    if (first_error(problems)) return std::nullopt;
  }
  if (clickhouse::is_address(options.store)) {
    config.store_address = options.store;
  } else if (!options.store.empty()) {
    config.store_path = options.store;
    config.store_address.clear();
  }
  return config;
}

void add_global_options(CLI::App& app, GlobalOptions& options) {
  app.set_version_flag("--version", fmt::format("pennyweight {}", kProgramVersion));
  app.add_option("--config", options.config,
                 "The configuration file; default: pennyweight.yaml, if it exists");
  app.add_option("--store", options.store,
                 "The ledger's file or clickhouse:// address; default: as configured");
  app.add_flag("--quiet", options.quiet, "Print no progress and no remarks");
  app.add_option("--color", options.colour, "Colours: auto (on a terminal), always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(
      "'pennyweight VERB --help' has examples. Exit codes: 0 success, 1 a check failed or the data "
      "is "
      "wrong, 2 wrong usage.");
}

// Suggests a verb for a misspelt one, "did you mean 'import'?", which CLI11 does not do.
void suggest_verb(int argc, char** argv, const std::vector<Verb>& verbs) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) names.push_back(verb.command->get_name());
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with('-')) continue;
    if (std::find(names.begin(), names.end(), word) != names.end()) return;
    const std::string hint = suggestion(word, names);
    if (!hint.empty()) fmt::print(stderr, "pennyweight: there is no verb '{}'{}\n", word, hint);
    return;
  }
}

// An option before a subcommand that has one of the same name is not the subcommand's, and would be
// passed over: 'forecast --today 2026-04-01 capacity'. What to write instead; nothing: all is well.
std::optional<std::string> find_misplaced_option(const CLI::App& command, const std::string& path) {
  for (const CLI::App* chosen : command.get_subcommands()) {
    const std::string whole = path + " " + chosen->get_name();
    for (const CLI::Option* option : command.get_options()) {
      const std::string name = option->get_name();
      if (option->count() == 0 || chosen->get_option_no_throw(name) == nullptr) continue;
      return fmt::format(
          "{} stands before '{}', where it is not read; write it behind: 'pennyweight {} {} …'",
          name, chosen->get_name(), whole, name);
    }
    if (auto problem = find_misplaced_option(*chosen, whole)) return problem;
  }
  return std::nullopt;
}

int exit_code_of(const Error& error) {
  return static_cast<int>(error.code == ErrorCode::kConfig ? ExitCode::kUsageError
                                                           : ExitCode::kCheckFailed);
}

int run_verb(const Verb& verb, const GlobalOptions& options) {
  Context context{
      default_config(), Console::detect(colour_mode(options.colour), options.quiet), {}};
  auto config = load_config(options, verb.command->get_name() != "policy", context.console);
  if (!config) return static_cast<int>(ExitCode::kUsageError);
  context.config = std::move(*config);
  const auto done = verb.run(context);
  if (!done) {
    std::fflush(stdout);
    context.console.complain(done.error());
    return exit_code_of(done.error());
  }
  // A full disk or a closed pipe may only show on the last write.
  if (std::fflush(stdout) != 0) {
    context.console.complain({ErrorCode::kIo, "cannot write to standard output"});
    return static_cast<int>(ExitCode::kCheckFailed);
  }
  return static_cast<int>(*done);
}

int run(int argc, char** argv, const Program& program) {
  CLI::App app(program.purpose, program.name);
  GlobalOptions options;
  add_global_options(app, options);
  const std::vector<Verb> verbs = program.declare(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) suggest_verb(argc, argv, verbs);
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::kUsageError);
  }
  for (const Verb& verb : verbs) {
    if (!verb.command->parsed()) continue;
    if (const auto problem = find_misplaced_option(*verb.command, verb.command->get_name())) {
      fmt::print(stderr, "pennyweight: {}\n", *problem);
      return static_cast<int>(ExitCode::kUsageError);
    }
    return run_verb(verb, options);
  }
  return static_cast<int>(ExitCode::kUsageError);
}

}  // namespace

int run_program(int argc, char** argv, const Program& program) {
  // If a reader goes away ("| head"), the write fails; no signal ends the program.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run(argc, argv, program);
  } catch (const InvariantError& error) {
    fmt::print(stderr,
               "pennyweight: this is a bug in pennyweight, please report it: {}\n"
               "pennyweight: only what was reported as written has been written\n",
               error.what());
    return kSoftwareError;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr,
               "pennyweight: out of memory; only what was reported as written has been written\n");
    return static_cast<int>(ExitCode::kCheckFailed);
  }
}

}  // namespace pennyweight
