// What the export writes alike in many places: lists, labels, amounts, times.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/label.h"
#include "ingest/gcp/json_text.h"

namespace pennyweight::gcp {

// A list as JSON has it, and as Parquet files of BigQuery have it when their reader does not know
// them for lists: {"list":[{"element":…}]}. The items of it, the wrapping taken off.
Result<std::vector<JsonValue>> items_of_list(const JsonValue& value);

// One spelling for a number, whichever the file has: "8.0", "8" and "8e0" become 8. What is no
// number, or has digits beyond 10^-18, stays as it is.
std::string number_text(std::string_view text);

// Adds a list of {key, value} to `labels`, each key behind `prefix`; of a tag also its namespace:
// prefix + namespace + "/" + key. An Error for what is no such list, for a key twice, and past the
// limits on labels.
Result<void> add_labels(std::string_view json, std::string_view prefix, Labels& labels);

// One spelling for a time, whichever the file has: "2022-08-02 01:11:12.066000+00:00" and
// "2022-08-02 01:11:12.066 UTC" become 2022-08-02T01:11:12.066Z. Anything else stays as it is.
std::string time_text(std::string_view text);

}  // namespace pennyweight::gcp
