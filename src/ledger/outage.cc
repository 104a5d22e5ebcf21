#include "ledger/outage.h"

#include <fmt/format.h>

namespace pennyweight {

Hash128 natural_key(const Outage& outage) {
  return Fingerprint()
      .add("outage")
      .add(outage.cluster.text())
      .add(outage.node.text())
      .add(outage.gpu.text())
      .add(unix_ms(outage.during.begin()))
      .hash();
}

Hash128 content_hash(const Outage& outage) {
  return Fingerprint()
      .add(outage.cluster.text())
      .add(outage.node.text())
      .add(outage.gpu.text())
      .add(unix_ms(outage.during.begin()))
      .add(unix_ms(outage.during.end()))
      .add(outage.reason)
      .hash();
}

std::string difference(const Outage& there, const Outage& here) {
  std::string text;
  if (there.during.end() != here.during.end()) {
    text = fmt::format("end {} there, {} here", to_text(there.during.end()),
                       to_text(here.during.end()));
  }
  if (there.reason != here.reason) {
    text += fmt::format("{}reason '{}' there, '{}' here", text.empty() ? "" : "; ", there.reason,
                        here.reason);
  }
  return text;
}

}  // namespace pennyweight
