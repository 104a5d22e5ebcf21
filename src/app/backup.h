// Backup: a ledger with all that belongs to it, as files in a folder, and back again.
//
//   ledger.duckdb    the ledger, of one moment
//   live/…           what `serve` had acknowledged and not yet written to it, of that same moment
//   accounts.sqlite  users, sessions, tokens, views; with its key
//   trail.audit      the audit log; taken last, so that it knows of all that is in the others
//   manifest.json    size and SHA-256 of each; written when everything else is there
//
// `serve` may run meanwhile. It opens the ledger only while it writes, so the backup waits for its
// turn; until the ledger and what waits for it are copied, nothing goes from one to the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/verb.h"
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

// Makes the folder. An Error where it holds something already.
Result<Manifest> make_backup(const std::string& folder, Context& context);

// Reads every file and holds it to the manifest. An Error says which is not as it was.
Result<Manifest> check_backup(const std::string& folder);

// Puts them where the configuration has them. Nothing is touched before the whole backup was
// checked; what is there is replaced only where `force` says so, and never under a running `serve`.
Result<Manifest> restore_backup(const std::string& folder, bool force, Context& context);

}  // namespace pennyweight
