// The columns of FOCUS, dataset Cost and Usage, versions 1.0 to 1.4, and which version a header is.
//
// Source: the specification's column tables (focus.finops.org), as one table in column.cc.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/csv/header.h"

namespace pennyweight::focus {

enum class Version { k1_0, k1_1, k1_2, k1_3, k1_4 };
std::string_view name_of(Version version);  // "1.0"

struct Column {
  std::string_view name;
  Version since;
  Version until;
  bool mandatory;  // by the specification; what pennyweight itself needs is kNeededColumns
};

// By name.
std::span<const Column> columns();
// Nothing for a name that no version has.
const Column* find_column(std::string_view name);

// The version whose columns these are: the one that introduced the newest of them; 1.4 rather than
// 1.3 where the columns that 1.4 removed are not there.
Version detect_version(std::span<const std::string> names);

// Without these no line of a bill can be taken. ContractedCost, which FOCUS wants too, may be
// missing: reports of its drafts (Oracle's) lack it, and BilledCost takes its place.
inline constexpr std::string_view kNeededColumns[] = {
    "BilledCost",       "EffectiveCost",     "ListCost",
    "BillingCurrency",  "ChargeCategory",    "BillingPeriodStart",
    "BillingPeriodEnd", "ChargePeriodStart", "ChargePeriodEnd"};

// The name of today for a column of an older version or draft ("Region" → "RegionId"); else empty.
std::string_view renamed(std::string_view old_name);

// A name that is a column of FOCUS but for letter case, spaces and underscores, as query engines
// (billedcost, BILLED_COST) and display names (Billed Cost) have it, in FOCUS's spelling; else
// empty. Columns of one's own (x_…) have no other spelling.
std::string_view respelled(std::string_view name);

// Whether a header is of a FOCUS bill, in whichever of these spellings.
bool is_focus_header(std::span<const std::string> names);

// A header in FOCUS's spelling. A name that the header also has in that spelling stays as it is; of
// two that come to one name the first is taken.
struct Respelled {
  csv::Header header;
  std::vector<std::string> changed;  // the names of the file that were written otherwise
};
Respelled respelled(const csv::Header& header);

}  // namespace pennyweight::focus
