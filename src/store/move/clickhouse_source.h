// A ledger on ClickHouse, as the source of a move: what its log counted up to a position. What is
// committed meanwhile is behind that, and does no harm.
#pragma once

#include <memory>

#include "store/move/clickhouse_place.h"
#include "store/move/ends.h"

namespace pennyweight::move {

Result<std::unique_ptr<Source>> open_clickhouse_source(const ClickhousePlace& place);

}  // namespace pennyweight::move
