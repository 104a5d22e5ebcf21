// The columns of a Cost and Usage Report, by the names of the legacy one.
#pragma once

#include <vector>

#include "testing/generate/bills/native_bill.h"
#include "testing/generate/bills/sheet.h"

namespace pennyweight::bills {

// Those of the report that the options ask for; each cell is set by the legacy name also where the
// file is CUR 2.0. Its maps are set as "resource_tags", "product" and "discount".
std::vector<SheetColumn> aws_columns(const NativeBillOptions& options);

}  // namespace pennyweight::bills
