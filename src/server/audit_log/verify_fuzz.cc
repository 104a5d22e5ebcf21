// Any bytes are an intact audit log, or are not with a reason; the verdict is the same whether they
// come in pieces or at once. An intact log is not intact after any byte changes.
#include <algorithm>
#include <string>

#include "core/check.h"
#include "server/audit_log/line.h"

namespace {

using pennyweight::audit_log::Verdict;
using pennyweight::audit_log::Verifier;

Verdict verdict_of(std::string_view bytes, std::size_t piece) {
  Verifier verification;
  while (!bytes.empty()) {
    if (!verification.add(bytes.substr(0, piece))) break;
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  return verification.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  const Verdict verdict = verdict_of(bytes, bytes.size());
  const Verdict again = verdict_of(bytes, 1 + size % 61);
  CHECK(verdict.whole == again.whole && verdict.head == again.head &&
            verdict.bad_line == again.bad_line && verdict.reason == again.reason,
        "pieces give the same verdict");
  CHECK(verdict.whole == (verdict.bad_line == 0) && verdict.whole == verdict.reason.empty(),
        "a damaged log has a line and a reason");
  if (verdict.whole && size > 0) {
    const std::size_t at = size * 7 / 13;
    bytes[at % size] = static_cast<char>(bytes[at % size] ^ 1);
    CHECK(!verdict_of(bytes, bytes.size()).whole, "a changed byte is found");
  }
  return 0;
}
