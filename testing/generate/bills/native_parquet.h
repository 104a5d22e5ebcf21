// Converts a generated bill's text to the Parquet file that its provider delivers: CUR 2.0 with
// doubles, timestamps and maps, Google's export with its nested records.
#pragma once

#include <string>

#include "core/error.h"
#include "testing/generate/bills/native_bill.h"

namespace pennyweight::bills {

bool can_be_parquet(NativeForm form);
// "aws-cur2 and gcp-json", for messages.
std::string parquet_forms();

// `text_path` is the output of write_native_bill with these options. Memory does not depend on its
// length. REQUIRES: can_be_parquet(options.form).
Result<void> text_to_parquet(const std::string& text_path, const NativeBillOptions& options,
                             const std::string& parquet_path);

}  // namespace pennyweight::bills
