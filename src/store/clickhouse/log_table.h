// The register of the log of commits (store/clickhouse/log) as a table: the same rows on every
// node, written with a quorum of them and read where none that a quorum took is missing.
#pragma once

#include <memory>

#include "store/clickhouse/database.h"
#include "store/clickhouse/log/register.h"

namespace pennyweight {

// `database` lives longer.
std::unique_ptr<commit_log::Register> make_log_table(ClickhouseDatabase& database);

}  // namespace pennyweight
