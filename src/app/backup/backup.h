// Backs up a ledger with all that belongs to it to a folder, and restores it.
//
//   ledger.duckdb    the ledger, at one point in time
//   live/…           what `serve` had acknowledged but not yet written, at the same point in time
//   accounts.sqlite  users, sessions, tokens, views; with its key
//   trail.audit      the audit log; copied last, so that it covers all the other files
//   manifest.json    size and SHA-256 of each; written last of all
//
// `serve` may run meanwhile. It opens the ledger only while it writes, so the backup waits for its
// turn and then locks the ledger until it and the journal are copied.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/context/context.h"
#include "core/instant.h"

namespace pennyweight {

struct BackupFile {
  std::string name;  // within the folder: "live/slurm-hpc.state"
  std::uint64_t bytes = 0;
  std::string sha256;
};

struct Manifest {
  std::string at;  // when it was made
  std::string program_version;
  std::vector<BackupFile> files;
};

// Creates the folder. An Error if it is not empty.
Result<Manifest> make_backup(const std::string& folder, Context& context);

// Reads every file and compares it with the manifest. An Error names a file that differs.
Result<Manifest> check_backup(const std::string& folder);

// Restores the files to the configured paths, after checking the whole backup. Replaces existing
// files only with `force`, and never under a running `serve`.
Result<Manifest> restore_backup(const std::string& folder, bool force, Context& context);

}  // namespace pennyweight
