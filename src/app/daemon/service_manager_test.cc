// What systemd is told, by a socket that stands for it.
#include "app/daemon/service_manager.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

namespace pennyweight {
namespace {

TEST(ServiceManager, IsToldWhereThereIsOne) {
  notify_service_manager("READY=1");  // nobody listens
  const std::string path = (std::filesystem::path(testing::TempDir()) / "notify.socket").string();
  std::filesystem::remove(path);
  const int listener = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  std::memcpy(address.sun_path, path.data(), path.size());
  ASSERT_EQ(::bind(listener, static_cast<sockaddr*>(static_cast<void*>(&address)), sizeof(address)),
            0);
  ASSERT_EQ(::setenv("NOTIFY_SOCKET", path.c_str(), 1), 0);
  notify_service_manager("READY=1");
  std::array<char, 64> bytes{};
  const auto size = ::recv(listener, bytes.data(), bytes.size(), MSG_DONTWAIT);
  ::unsetenv("NOTIFY_SOCKET");
  ::close(listener);
  std::filesystem::remove(path);
  ASSERT_EQ(size, 7);
  EXPECT_EQ(std::string(bytes.data(), 7), "READY=1");
}

}  // namespace
}  // namespace pennyweight
