// restore: restores a backup to the configured paths.
#include <fmt/format.h>

#include "app/backup/backup.h"
#include "app/cli/verb.h"
#include "core/try.h"

namespace pennyweight {
namespace {

struct RestoreOptions {
  std::string folder;
  bool force = false;
  BackupReader reader = {};
};

Result<ExitCode> run(const RestoreOptions& options, Context& context) {
  const auto manifest = TRY(restore_backup(options.folder, options.force, context, options.reader));
  context.console.print(fmt::format("{} is as it was at {}: {} files from {}\n",
                                    context.config.store_path, manifest.at, manifest.files.size(),
                                    options.folder));
  return ExitCode::kDone;
}

}  // namespace

Verb declare_restore(CLI::App& app) {
  const auto options = std::make_shared<RestoreOptions>();
  CLI::App* command =
      app.add_subcommand("restore", "Restore a backup, after checking every file of it");
  command->add_option("FOLDER", options->folder, "What 'backup' made")->required();
  command->add_flag("--force", options->force, "Replace existing files");
  command->add_option("--identity", options->reader.identity_file,
                      "Decrypt with the identity of age in this file");
  command->add_option("--signed-by", options->reader.signed_by_file,
                      "The Ed25519 public key (PEM) that must have signed the backup");
  command->footer(examples_footer("restore"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
