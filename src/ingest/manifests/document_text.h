// json_text_of(): a document as JSON, for readers that take JSON.
#pragma once

#include <string>

#include "ingest/manifests/document.h"

namespace pennyweight::manifests {

// Scalars without quotes are null, true, false and numbers as JSON writes them, as Kubernetes means
// them; all others are texts: "8", 500m, 010, 0x1F, yes, 2026-03-01. Never fails, and
// parse_json_documents() reads the same tree from it.
std::string json_text_of(const DocumentNode& document);

}  // namespace pennyweight::manifests
