// Pulls bills from where providers put them: lists the source, fetches deliveries that are new or
// changed, checks them by size and checksum, and imports each whole, as `import` does.
//
// Files lie in "<ledger>.pulled/NAME" while they are fetched, under names that end in ".part" until
// they are whole and checked; a fetch that was cut off goes on where it stopped. What was imported
// is remembered in the file "imported" beside them, written after the import was committed: killed
// between the two, a delivery is imported again, which changes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/import/importer.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/objects/object_store.h"

namespace pennyweight {

// Opens what a source names, with its secrets from files or the environment. The clock must outlive
// the store.
Result<std::unique_ptr<objects::ObjectStore>> open_source(const PullConfig& source, Clock& clock);

struct PulledImport {
  std::string delivery;
  std::vector<std::string> files;  // where they lay
  FileImport imported;
};

struct PullOutcome {
  std::vector<PulledImport> imports;
  std::uint64_t unchanged = 0;  // deliveries
  std::uint64_t bytes = 0;      // that were fetched
  // Deliveries that were not imported, and why: a part is missing or damaged, the import refused.
  std::vector<Error> refused;
};

// Called with the ledger open, as long as it takes to import one delivery.
using ImportDelivery =
    std::function<Result<FileImport>(const std::vector<std::string>& files, const ImportOptions&)>;

// What a person says of what is pulled, as `import` has it.
struct PullDecisions {
  bool confirm = false;
  std::string not_double;
  bool allow_aside = false;
  bool preview = false;  // finds the effect; imports and remembers nothing
};

// An Error where the source can't be listed, or its folder can't be written. Only one program pulls
// a source at a time: the others get an Error.
// `is_stopping`, asked between pieces of a fetch, ends it; the next pull goes on there.
Result<PullOutcome> pull(const PullConfig& source, objects::ObjectStore& store,
                         const Config& config, const ImportDelivery& import_delivery,
                         const std::function<bool()>& is_stopping = {},
                         const PullDecisions& decisions = {});

}  // namespace pennyweight
