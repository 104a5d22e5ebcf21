// The columns of FOCUS, dataset Cost and Usage, versions 1.0 to 1.4, and the version of a header.
//
// Source: the column tables of the specification (focus.finops.org), as one table in column.cc.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/csv/header.h"

namespace pennyweight::focus {

enum class Version { k1_0, k1_1, k1_2, k1_3, k1_4 };
std::string_view version_name(Version version);  // "1.0"

struct Column {
  std::string_view name;
  Version since;
  Version until;
  bool mandatory;  // by the specification; pennyweight itself needs kNeededColumns
};

// Sorted by name.
std::span<const Column> columns();
// Null for a name that no version has.
const Column* find_column(std::string_view name);

// The version that introduced the newest of these columns; 1.4 rather than 1.3 if the columns that
// 1.4 removed are missing.
Version detect_version(std::span<const std::string> names);

// No charge can be read without these, and one of the four costs (cost_defaults.h).
inline constexpr std::string_view kNeededColumns[] = {"BillingCurrency", "ChargeCategory",
                                                      "ChargePeriodStart", "ChargePeriodEnd"};

// The current name of a column of an older version or draft ("Region" → "RegionId"); else empty.
std::string_view current_name(std::string_view old_name);

// FOCUS's spelling of a column name that differs from it only in letter case, spaces and
// underscores, as query engines (billedcost, BILLED_COST) and display names (Billed Cost) write it;
// else empty. Custom columns (x_…) have no other spelling.
std::string_view focus_spelling(std::string_view name);

// True for the header of a FOCUS bill, in any of these spellings.
bool is_focus_header(std::span<const std::string> names);
// The same for the beginning of a JSON document, by the names of its members.
bool has_focus_records(std::string_view beginning);

// A header in FOCUS's spelling. A name stays as it is if the header has FOCUS's spelling too; of
// two names with the same spelling, only the first is respelled.
struct RespelledHeader {
  csv::Header header;
  std::vector<std::string> changed;  // the names of the file that were spelled otherwise
};
RespelledHeader respell_header(const csv::Header& header);

}  // namespace pennyweight::focus
