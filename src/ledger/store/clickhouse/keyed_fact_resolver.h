// Facts whose key is their id, held against a state of the ledger: of several contents under one
// key the ledger's is kept, else the one with the least fingerprint (resolve.h), and the others are
// reported as conflicts. New corrections of closed months are set aside.
#pragma once

#include "ledger/store/clickhouse/import_resolver.h"

namespace pennyweight {

// Every fact of the delivery but its charges. REQUIRES: result().instead.
Result<void> resolve_keyed_facts(ImportResolver& resolver);

}  // namespace pennyweight
