// The list of a backup's files, and the reading and copying of them.
#pragma once

#include <string>
#include <string_view>

#include "app/backup.h"
#include "core/error.h"

namespace pennyweight {

inline constexpr const char* kManifestFile = "manifest.json";
inline constexpr const char* kLedgerFile = "ledger.duckdb";
inline constexpr const char* kTrailFile = "trail.audit";
inline constexpr const char* kAccountsFile = "accounts.sqlite";
inline constexpr const char* kLiveFolder = "live/";

std::string write_manifest(const Manifest& manifest);
// An Error where it is none, or names a file that lies elsewhere.
Result<Manifest> read_manifest(std::string_view json);

// What a file holds.
Result<BackupFile> file_facts(const std::string& path, const std::string& name);
// At most `bytes_max` of it, readable by its owner alone, and on disk when this returns.
Result<void> copy_file(const std::string& from, const std::string& to,
                       std::uint64_t bytes_max = UINT64_MAX);

}  // namespace pennyweight
