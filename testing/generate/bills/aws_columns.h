// The columns of a Cost and Usage Report, by the names of the legacy one.
#pragma once

#include <vector>

#include "testing/generate/bills/native_bill.h"
#include "testing/generate/bills/sheet.h"

namespace pennyweight::bills {

// The columns of the report that the options select. Each cell is set by its legacy name, also in
// CUR 2.0, whose maps are set as "resource_tags", "product" and "discount".
std::vector<SheetColumn> aws_columns(const NativeBillOptions& options);

}  // namespace pennyweight::bills
