// The register of the log of commits (store/clickhouse/log) as a table: the same rows on every
// node, written with a quorum of them and read where none that a quorum took is missing.
#pragma once

#include <memory>

#include "ledger/store/clickhouse/database.h"
#include "ledger/store/clickhouse/log/log_storage.h"
#include "ledger/store/columns/columns.h"

namespace pennyweight {

template <>
struct Table<commit_log::LogRow> {
  static constexpr const char* kName = "log";
  static commit_log::LogRow blank() { return {}; }
  static void list(auto& io) {
    using commit_log::LogRow;
    io.choice("kind", &LogRow::kind, commit_log::parse_row_kind);
    io.count("turn", &LogRow::turn);
    io.count("writer", &LogRow::writer);
    io.count("position", &LogRow::position);
    io.text("prefix", &LogRow::prefix);
    io.count("session", &LogRow::session);
    io.text("what", &LogRow::what);
    io.instant("at", &LogRow::at);
  }
};

// `database` lives longer.
std::unique_ptr<commit_log::LogStorage> make_log_table(ClickhouseDatabase& database);

}  // namespace pennyweight
