// What `serve` does with a file that a browser uploads: imports it with the code of the verb
// `import`; and divides a month anew with that of `allocate`.
#pragma once

#include <string>
#include <vector>

#include "allocation/allocate.h"
#include "app/daemon/shared_ledger.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/error.h"
#include "server/api/uploads.h"

namespace pennyweight {

// The bytes are written to a file that has no name and that nobody else can open, so that it is
// gone whatever happens.
Result<api::Made<api::UploadReport>> import_upload(const api::FileUpload& upload,
                                                   SharedLedger& ledger, const Config& config,
                                                   Clock& clock);

// An Error of kConflict where the month is closed, and of kNotFound where it has no bill lines.
Result<api::Made<std::vector<api::RunReport>>> allocate_on_request(const std::string& month,
                                                                   SharedLedger& ledger,
                                                                   const Config& config,
                                                                   const Catalog& catalog,
                                                                   Clock& clock);

}  // namespace pennyweight
