// Any bytes as an accounting log of PBS: every record is held, counted or refused with a reason,
// and the chunks do not matter.
#include "ingest/schedulers/accounting/accounting_fuzzing.h"
#include "ingest/schedulers/pbs/accounting.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pennyweight::accounting::check_any_bytes(pennyweight::pbs::read_record, data, size);
  return 0;
}
