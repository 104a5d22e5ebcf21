// The program: reads the command line and the configuration, and hands over to a verb.
//
// Exit codes: 0 done, 1 the data or the check says no, 2 wrong usage. A broken invariant is caught
// here and nowhere else; it ends with 70, as sysexits.h has it for software errors.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <optional>

#include "app/file.h"
#include "app/verb.h"
#include "app/version.h"
#include "clickhouse/address.h"
#include "config/nearest.h"
#include "core/check.h"
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

void tell(const Console& console, const std::vector<Problem>& problems) {
  for (const Problem& problem : problems) {
    if (problem.is_warning) {
      console.say("pennyweight: " + problem.message);
    } else {
      console.complain({ErrorCode::kConfig, problem.message});
    }
  }
}

// Nothing, and all that is wrong is said, where the configuration can't be used. The verb `policy`
// tells of a policy's file and of warnings itself, since it is there for that.
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
    if (has_error || with_policy_file) tell(console, reading.problems);
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
    tell(console, problems);
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
  app.add_option("--config", options.config, "The configuration; else pennyweight.yaml, if there");
  app.add_option("--store", options.store,
                 "The ledger's file or clickhouse:// address, over the configured one");
  app.add_flag("--quiet", options.quiet, "No progress and no remarks");
  app.add_option("--color", options.colour, "Colours: auto (on a terminal), always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(
      "'pennyweight VERB --help' has examples. Exit codes: 0 done, 1 the data or the check says "
      "no, 2 wrong usage.");
}

// "imprt: did you mean 'import'?", which CLI11 does not say.
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

int exit_code_of(const Error& error) {
  return static_cast<int>(error.code == ErrorCode::kConfig ? ExitCode::kWrongUsage
                                                           : ExitCode::kSaysNo);
}

int run_verb(const Verb& verb, const GlobalOptions& options) {
  Context context{
      default_config(), Console::detect(colour_mode(options.colour), options.quiet), {}};
  auto config = load_config(options, verb.command->get_name() != "policy", context.console);
  if (!config) return static_cast<int>(ExitCode::kWrongUsage);
  context.config = std::move(*config);
  const auto done = verb.run(context);
  if (!done) {
    std::fflush(stdout);
    context.console.complain(done.error());
    return exit_code_of(done.error());
  }
  // A full disk or a closed pipe shows when the last bytes are written.
  if (std::fflush(stdout) != 0) {
    context.console.complain({ErrorCode::kIo, "cannot write to standard output"});
    return static_cast<int>(ExitCode::kSaysNo);
  }
  return static_cast<int>(*done);
}

int run_program(int argc, char** argv) {
  CLI::App app("pennyweight attributes every cent of a GPU bill to who caused it.", "pennyweight");
  GlobalOptions options;
  add_global_options(app, options);
  const std::vector<Verb> verbs = {
      declare_import(app),   declare_allocate(app),  declare_report(app),
      declare_compare(app),  declare_reconcile(app), declare_explain(app),
      declare_export(app),   declare_generate(app),  declare_doctor(app),
      declare_policy(app),   declare_close(app),     declare_restatements(app),
      declare_invoice(app),  declare_price(app),     declare_audit(app),
      declare_serve(app),    declare_top(app),       declare_units(app),
      declare_backfill(app), declare_user(app),      declare_token(app),
      declare_backup(app),   declare_restore(app),   declare_work(app),
      declare_sweep(app),    declare_move(app)};
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) suggest_verb(argc, argv, verbs);
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::kWrongUsage);
  }
  for (const Verb& verb : verbs) {
    if (verb.command->parsed()) return run_verb(verb, options);
  }
  return static_cast<int>(ExitCode::kWrongUsage);
}

}  // namespace
}  // namespace pennyweight

int main(int argc, char** argv) {
  // A reader that goes away ("| head") ends a write with an error, not the program with a signal.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return pennyweight::run_program(argc, argv);
  } catch (const pennyweight::InvariantError& error) {
    fmt::print(stderr,
               "pennyweight: this is a bug in pennyweight, please report it: {}\n"
               "pennyweight: nothing was written that was not acknowledged before\n",
               error.what());
    return pennyweight::kSoftwareError;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr,
               "pennyweight: out of memory; nothing was written that was not acknowledged\n");
    return static_cast<int>(pennyweight::ExitCode::kSaysNo);
  }
}
