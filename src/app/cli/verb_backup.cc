// backup: copies the ledger and all that belongs to it into a folder, even while `serve` runs.
#include <fmt/format.h>

#include "app/backup/backup.h"
#include "app/cli/verb.h"
#include "core/try.h"
#include "reporting/number_format.h"

namespace pennyweight {
namespace {

struct BackupOptions {
  std::string folder;
  bool check = false;
};

Result<ExitCode> run(const BackupOptions& options, Context& context) {
  const auto manifest =
      TRY(options.check ? check_backup(options.folder) : make_backup(options.folder, context));
  std::uint64_t bytes = 0;
  for (const BackupFile& file : manifest.files) bytes += file.bytes;
  context.console.print(fmt::format(
      "{}: {} files, {} bytes, {}\n", options.folder, manifest.files.size(),
      format_count(bytes, Thousands::kSeparated),
      options.check ? "as they were backed up at " + manifest.at : "of " + manifest.at));
  return ExitCode::kDone;
}

}  // namespace

Verb declare_backup(CLI::App& app) {
  const auto options = std::make_shared<BackupOptions>();
  CLI::App* command = app.add_subcommand(
      "backup", "Back up the ledger, accounts, audit log and journal, even while 'serve' runs");
  command->add_option("FOLDER", options->folder, "A new folder, or an empty one")->required();
  command->add_flag("--check", options->check,
                    "Make no backup; check the one in FOLDER against its manifest");
  command->footer(examples_footer("backup"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
