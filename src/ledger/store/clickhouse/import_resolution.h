// What an import brought, held against a state of the ledger (resolve.h), and what of it is to be
// committed.
//
// What came stands in the tables already, under a session that nobody sees. Mostly nothing of it
// was there before and nothing came twice: the engine says so, and that session is committed as it
// is. Otherwise what stays is written once more, under another session, and that one is committed.
// Facts go through the program for it, so that every block can be sent again until it certainly
// arrived; a part of the keys at a time, so that memory does not grow with the import.
//
// A resolution belongs to one state of the ledger: it holds until an import or a closing is
// committed, and is then computed again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ledger/store.h"
#include "ledger/store/clickhouse/import_rows.h"
#include "ledger/store/clickhouse/snapshot.h"

namespace pennyweight {

// REQUIRES of all: they live longer than the resolver.
struct StagedDelivery {
  const ImportSource& source;
  const ImportRows& rows;
  // The month in which lines of a billing month were written down to be booked, and how many.
  struct Month {
    std::string booked;
    std::uint64_t lines = 0;
  };
  const std::map<std::string, Month>& months;  // by billing month
  const std::set<std::string>& scopes;         // of a replacement
  std::uint64_t rejected_rows_kept = 0;        // by the parser, so far
};

struct ImportResolution {
  ImportOutcome outcome;              // but for the import's number, and rows that were not read
  std::vector<RejectedRow> rejected;  // corrections that come too late, then conflicts
  std::uint64_t rejected_count = 0;   // of both; so many are not all described
  std::unique_ptr<ImportRows>
      instead;                // what is to be committed, where it is not StagedDelivery::rows
  std::uint64_t retired = 0;  // rows of retired_charges under that session
};

// `between` is called between statements that may take long.
Result<ImportResolution> resolve_import(ClickhouseDatabase& database, const Snapshot& ledger,
                                        const StagedDelivery& delivery,
                                        const std::function<Result<void>()>& between);

// Whether a file of differences was taken before.
Result<bool> is_known_file(ClickhouseDatabase& database, const Snapshot& ledger,
                           const ImportSource& source);
}  // namespace pennyweight
