// Any text expands within the limits or is refused, and a name expands to itself.
#include "core/check.h"
#include "ingest/schedulers/slurm/hostlist.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace pennyweight::slurm;
  const auto hosts = expand_hostlist({reinterpret_cast<const char*>(data), size});
  if (!hosts) return 0;
  CHECK(!hosts->empty() && hosts->size() <= kHostsMax, "a list names one to kHostsMax nodes");
  for (const std::string& host : {hosts->front(), hosts->back()}) {
    CHECK(host.size() <= kHostNameBytesMax, "a name is short");
    CHECK(expand_hostlist(host) == std::vector<std::string>{host}, "a name is a list of itself");
  }
  return 0;
}
