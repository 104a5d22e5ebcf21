// Normalises values that the export writes in several ways: lists, labels, numbers, times.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/label.h"
#include "ingest/bills/gcp/json_scanner.h"

namespace pennyweight::gcp {

// The items of a list in JSON, also in the wrapping of BigQuery's Parquet files that readers
// without list support return: {"list":[{"element":…}]}.
Result<std::vector<JsonValue>> items_of_list(const JsonValue& value);

// One spelling for a number: "8.0", "8" and "8e0" become 8. A text that is not a number, or has
// digits beyond 10^-18, stays unchanged.
std::string number_text(std::string_view text);

// Adds a list of {key, value} to `labels`, each key after `prefix`, that of a tag also after its
// namespace: prefix + namespace + "/" + key. An Error for a text that is not such a list, for a key
// twice, and beyond the limits on labels.
Result<void> add_labels(std::string_view json, std::string_view prefix, Labels& labels);

// One spelling for a time: "2022-08-02 01:11:12.066000+00:00" and "2022-08-02 01:11:12.066 UTC"
// become 2022-08-02T01:11:12.066Z. Any other text stays unchanged.
std::string time_text(std::string_view text);

}  // namespace pennyweight::gcp
