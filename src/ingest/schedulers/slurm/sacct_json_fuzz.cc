// Any document is read or refused.
#include "ingest/schedulers/slurm/sacct_fuzzing.h"
#include "ingest/schedulers/slurm/sacct_json.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace pennyweight::slurm;
  FuzzSink fuzz;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto counts = read_sacct_json(text, fuzz_options(size % 2 == 1), fuzz.sink());
  if (counts) fuzz.check(*counts);
  return 0;
}
