// Any bytes as what `qacct -j` prints: every record is held, counted or refused with a reason, and
// the chunks do not matter.
#include "ingest/schedulers/accounting/accounting_fuzzing.h"
#include "ingest/schedulers/grid_engine/qacct.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  accounting::check_any_bytes(grid_engine::read_qacct_record, data, size,
                              grid_engine::is_qacct_separator);
  return 0;
}
