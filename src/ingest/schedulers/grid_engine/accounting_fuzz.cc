// Any bytes as an accounting file of Grid Engine: every record is held, counted or refused with a
// reason, and the chunks do not matter.
#include "ingest/schedulers/accounting/accounting_fuzzing.h"
#include "ingest/schedulers/grid_engine/accounting.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pennyweight::accounting::check_any_bytes(pennyweight::grid_engine::read_record, data, size);
  return 0;
}
