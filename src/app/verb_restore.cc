// restore: what `backup` made, back to where the configuration has it.
#include <fmt/format.h>

#include "app/backup.h"
#include "app/verb.h"

namespace pennyweight {
namespace {

struct RestoreOptions {
  std::string folder;
  bool force = false;
};

Result<ExitCode> run(const RestoreOptions& options, Context& context) {
  const auto manifest = restore_backup(options.folder, options.force, context);
  if (!manifest) return std::unexpected(manifest.error());
  context.console.print(fmt::format("{} is as it was at {}: {} files from {}\n",
                                    context.config.store_path, manifest->at, manifest->files.size(),
                                    options.folder));
  return ExitCode::kDone;
}

}  // namespace

Verb declare_restore(CLI::App& app) {
  const auto options = std::make_shared<RestoreOptions>();
  CLI::App* command =
      app.add_subcommand("restore", "Put a backup back, once every file of it was checked");
  command->add_option("FOLDER", options->folder, "What 'backup' made")->required();
  command->add_flag("--force", options->force, "In the place of what is there");
  command->footer(examples_of("restore"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
