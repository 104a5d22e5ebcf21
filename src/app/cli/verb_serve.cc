// serve: collects telemetry from running clusters, and serves the pages and the API.
#include <memory>
#include <string>

#include "app/cli/verb.h"
#include "app/daemon/daemon.h"
#include "config/live_config.h"
#include "core/try.h"

namespace pennyweight {
namespace {

struct ServeOptions {
  std::string listen;
};

Result<ExitCode> run(const ServeOptions& options, Context& context) {
  if (!options.listen.empty()) {
    const auto set = set_listen_address(options.listen, context.config.live.serve);
    if (!set) return usage_error("--listen: " + set.error().message);
  }
  const auto daemon = TRY(Daemon::start(context.config, context.clock));
  daemon->run_until_stopped();
  return ExitCode::kDone;
}

}  // namespace

Verb declare_serve(CLI::App& app) {
  const auto options = std::make_shared<ServeOptions>();
  CLI::App* command = app.add_subcommand(
      "serve", "Collect telemetry from running clusters, and serve the pages and the API");
  command->add_option("--listen", options->listen, "ADDRESS:PORT; default: serve.listen");
  command->footer(examples_footer("serve"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
