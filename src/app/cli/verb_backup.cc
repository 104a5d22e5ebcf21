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
  BackupKeys keys = {};
  BackupReader reader = {};
};

Result<ExitCode> run(const BackupOptions& options, Context& context) {
  const auto manifest = TRY(options.check ? check_backup(options.folder, options.reader)
                                          : make_backup(options.folder, context, options.keys));
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
  CLI::Option* const check = command->add_flag(
      "--check", options->check, "Make no backup; check the one in FOLDER against its manifest");
  command
      ->add_option("--encrypt-to", options->keys.recipients,
                   "Encrypt for this recipient of age (age1…), who alone can read it; repeatable")
      ->allow_extra_args(false)
      ->excludes(check);
  command
      ->add_option("--sign-with", options->keys.signing_key_file,
                   "Sign with the Ed25519 key in this file (PEM)")
      ->excludes(check);
  command
      ->add_option("--identity", options->reader.identity_file,
                   "With --check: decrypt with the identity of age in this file")
      ->needs(check);
  command
      ->add_option("--signed-by", options->reader.signed_by_file,
                   "With --check: the Ed25519 public key (PEM) that must have signed it")
      ->needs(check);
  command->footer(examples_footer("backup"));
  return {command, [options](Context& context) { return run(*options, context); }};
}

}  // namespace pennyweight
