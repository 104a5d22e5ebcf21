// Reads and writes the manifest of a backup, and copies its files.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/backup/backup.h"
#include "core/crypto/age.h"
#include "core/error.h"

namespace pennyweight {

inline constexpr const char* kManifestFile = "manifest.json";
inline constexpr const char* kSignatureFile = "manifest.sig";
inline constexpr std::string_view kEncryptedEnding = ".age";
inline constexpr const char* kLedgerFile = "ledger.duckdb";
inline constexpr const char* kAuditLogFile = "trail.audit";
inline constexpr const char* kAccountsFile = "accounts.sqlite";
inline constexpr const char* kLiveFolder = "live/";

std::string write_manifest(const Manifest& manifest);
// An Error if it is not a manifest, or names a file outside the backup.
Result<Manifest> read_manifest(std::string_view json);

// Reads the file's size and SHA-256.
Result<BackupFile> describe_file(const std::string& path, const std::string& name);
// Copies at most `bytes_max` bytes. The copy is readable by its owner only, and synced to disk.
Result<void> copy_file(const std::string& from, const std::string& to,
                       std::uint64_t bytes_max = UINT64_MAX);
// The same, encrypted; and back. With an empty `to`, decrypts without keeping anything.
Result<void> encrypt_file(const std::string& from, const std::string& to,
                          std::span<const age::Recipient> recipients);
Result<void> decrypt_file(const std::string& from, const std::string& to,
                          std::span<const age::Identity> identities);
// Writes a new file that its owner alone can read, synced to disk.
Result<void> write_private_file(const std::string& path, std::string_view bytes);

}  // namespace pennyweight
