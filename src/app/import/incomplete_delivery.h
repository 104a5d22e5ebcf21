// Refuses a delivery of which parts are missing, says what the parts that came hold, and keeps that
// in the ledger, so that the month can't be closed on an earlier delivery as if nothing had come.
#pragma once

#include "app/context/console.h"
#include "app/import/delivery_manifest.h"
#include "app/import/importer.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/error.h"
#include "ledger/store.h"

namespace pennyweight {

// The Error to report. None of the delivery's lines is imported; a record of it is, once, unless
// the options ask for a preview. A later delivery of the accounts, whole, ends it.
Error refuse_incomplete(Store& store, const IncompleteDelivery& delivery, ImportOptions options,
                        const Config& config, const Console& console, Clock& clock);

}  // namespace pennyweight
