// Any bytes as a kubeconfig: an address with credentials, or words that say why not.
#include <cstdint>

#include "core/check.h"
#include "ingest/schedulers/kubernetes/kubeconfig.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pennyweight;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto server = kubernetes::read_kubeconfig(text, "/folder");
  if (!server) {
    CHECK(!server.error().message.empty(), "a refusal says why");
  } else {
    CHECK(server->url.starts_with("http"), "a server has an address");
    CHECK(server->http.bearer_token.empty() || server->http.bearer_token_file.empty(), "one token");
    CHECK((server->http.cert_file.empty() && server->http.cert_pem.empty()) ==
              (server->http.key_file.empty() && server->http.key_pem.empty()),
          "a certificate has its key");
  }
  const auto bytes = kubernetes::decode_base64(text);
  CHECK(!bytes || bytes->size() <= size, "base64 makes text longer");
  return 0;
}
