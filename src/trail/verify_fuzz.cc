// Any bytes are a whole audit log or not, and why; in pieces as at once. What is whole is not any
// more once a byte of it is another.
#include <algorithm>
#include <string>

#include "core/check.h"
#include "trail/line.h"

namespace {

using pennyweight::trail::Verdict;
using pennyweight::trail::Verification;

Verdict verdict_of(std::string_view bytes, std::size_t piece) {
  Verification verification;
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
        "pieces are no other bytes");
  CHECK(verdict.whole == (verdict.bad_line == 0) && verdict.whole == verdict.reason.empty(),
        "what is not whole has a place and a reason");
  if (verdict.whole && size > 0) {
    const std::size_t at = size * 7 / 13;
    bytes[at % size] = static_cast<char>(bytes[at % size] ^ 1);
    CHECK(!verdict_of(bytes, bytes.size()).whole, "a byte is another");
  }
  return 0;
}
