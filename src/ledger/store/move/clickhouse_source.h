// A ledger on ClickHouse as the source of a move: what counted up to a position of its commit log.
// Later commits come after that position, so they do no harm.
#pragma once

#include <memory>

#include "ledger/store/move/clickhouse_location.h"
#include "ledger/store/move/endpoints.h"

namespace pennyweight::move {

Result<std::unique_ptr<LedgerSource>> open_clickhouse_source(const ClickhouseLocation& place);

}  // namespace pennyweight::move
