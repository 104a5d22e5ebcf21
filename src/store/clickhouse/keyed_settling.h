// Facts whose key is their id, held against a state of the ledger: of several contents under one
// key the ledger's is kept, else the one with the least fingerprint (settle.h), and the others are
// told as conflicts. New corrections of closed months are kept aside.
#pragma once

#include "store/clickhouse/settling.h"

namespace pennyweight {

// Every fact of the delivery but its charges. REQUIRES: made().instead.
Result<void> settle_keyed_facts(Settling& settling);

}  // namespace pennyweight
