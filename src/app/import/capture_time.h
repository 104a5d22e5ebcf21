// The time of a capture that does not state it itself: nvidia-smi -L, a scrape, Kubernetes objects.
#pragma once

#include <optional>

#include "app/import/file_parser.h"
#include "core/error.h"
#include "core/instant.h"

namespace pennyweight {

// --at, else --from, else when the file was last changed; nothing for standard input. An Error
// where the file was changed in the future.
Result<std::optional<Instant>> capture_time(const ParserInput& input);

// Remarks which time was taken, where nobody gave one.
void remark_capture_time(const ParserInput& input, std::optional<Instant> at);

}  // namespace pennyweight
