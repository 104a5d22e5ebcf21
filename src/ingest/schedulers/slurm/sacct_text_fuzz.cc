// Any bytes are read or refused, and in the same way however they are cut into chunks.
#include <algorithm>

#include "core/try.h"
#include "ingest/schedulers/slurm/sacct_fuzzing.h"
#include "ingest/schedulers/slurm/sacct_text.h"

namespace pennyweight::slurm {
namespace {

Result<SacctCounts> read(std::string_view text, std::size_t chunk_bytes) {
  FuzzSink fuzz;
  SacctText reader(fuzz_options(text.size() % 2 == 1), fuzz.sink());
  for (std::size_t at = 0; at < text.size(); at += chunk_bytes) {
    TRY(reader.feed(text.substr(at, chunk_bytes)));
  }
  auto counts = reader.finish();
  if (counts) fuzz.check(*counts);
  return counts;
}

}  // namespace
}  // namespace pennyweight::slurm

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto whole = pennyweight::slurm::read(text, std::max<std::size_t>(size, 1));
  CHECK(whole == pennyweight::slurm::read(text, 7), "chunks do not matter");
  return 0;
}
