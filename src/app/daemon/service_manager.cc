#include "app/daemon/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace pennyweight {

void notify_service_manager(std::string_view state) {
  const char* const path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = path == nullptr ? 0 : std::strlen(path);
  if (length < 2 || length >= sizeof(address.sun_path)) return;
  if (path[0] != '/' && path[0] != '@') return;
  std::memcpy(address.sun_path, path, length);
  if (path[0] == '@') address.sun_path[0] = '\0';  // in the abstract namespace
  const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  const auto* const to = reinterpret_cast<const sockaddr*>(&address);
  // A lost message is followed by the next one.
  const auto sent = ::sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL, to, size);
  static_cast<void>(sent);
  ::close(descriptor);
}

}  // namespace pennyweight
