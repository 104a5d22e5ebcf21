// Backs up a ledger with all that belongs to it to a folder, and restores it.
//
//   ledger.duckdb    the ledger, at one point in time
//   live/…           what `serve` had acknowledged but not yet written, at the same point in time
//   accounts.sqlite  users, sessions, tokens, views; with its key
//   trail.audit      the audit log; copied last, so that it covers all the other files
//   manifest.json    size and SHA-256 of each; written last of all
//   manifest.sig     its signature, if there is a key to sign with
//
// With recipients every file but the last two is encrypted, and named `NAME.age`
// (core/crypto/age.h). Then nothing is ever written to the folder that its recipients alone can't
// read.
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

struct BackupKeys {
  std::vector<std::string> recipients = {};  // of age, "age1…"; none: nothing is encrypted
  std::string signing_key_file = {};         // Ed25519, PEM; "": not signed
};
struct BackupReader {
  // Of age; "": nothing can be decrypted. With one, files in the clear are refused.
  std::string identity_file = {};
  std::string signed_by_file = {};  // the public key that must have signed it; "": anybody
};

struct Manifest {
  std::string at;  // when it was made
  std::string program_version;
  std::vector<BackupFile> files;
};

// Creates the folder. An Error if it is not empty.
Result<Manifest> make_backup(const std::string& folder, Context& context,
                             const BackupKeys& keys = {});

// Reads every file and compares it with the manifest; with an identity, decrypts it as well. An
// Error names a file that differs, or says that the signature is not the wanted one.
Result<Manifest> check_backup(const std::string& folder, const BackupReader& reader = {});

// Restores the files to the configured paths, after checking the whole backup. Replaces existing
// files only with `force`, and never under a running `serve`.
Result<Manifest> restore_backup(const std::string& folder, bool force, Context& context,
                                const BackupReader& reader = {});

}  // namespace pennyweight
