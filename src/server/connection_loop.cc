#include "server/connection_loop.h"

#include "server/session.h"
//
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

#include "core/try.h"
#include "server/address.h"

namespace pennyweight::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// What the kernel holds until it is accepted: beyond it a client's first packet is dropped, and the
// next one comes a second later. The kernel lowers it to net.core.somaxconn, 4,096 by default.
constexpr int kBacklog = 4096;
constexpr milliseconds kSweepEvery{50};
// Connections accepted before those that are there have their turn.
constexpr int kAcceptedAtOnce = 256;
// How long to wait before accepting again when the process has no file descriptors left.
constexpr milliseconds kAcceptPause{20};
// File descriptors for everything but connections: the ledger, journals, scrapes.
constexpr std::size_t kOtherFiles = 256;
// A client whose head is whole, or whose bytes are over, within this time does not dawdle.
constexpr milliseconds kPromptHead{20};
constexpr milliseconds kPromptTransfer{250};
// An answer whose reader takes less than this in a sweep of memory is the first to go.
constexpr std::uint64_t kSwiftBytes = 256u << 10;
constexpr milliseconds kSwiftWithin{2'000};

struct AddrInfoDeleter {
  void operator()(addrinfo* found) const { ::freeaddrinfo(found); }
};

int listen_at(const addrinfo& at) {
  const int socket =
      ::socket(at.ai_family, at.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, at.ai_protocol);
  if (socket < 0) return -1;
  const int yes = 1, no = 0;
  // No SO_REUSEPORT: of two processes that share a port, each would get only some of the samples.
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (at.ai_family == AF_INET6) ::setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  if (::bind(socket, at.ai_addr, at.ai_addrlen) == 0 && ::listen(socket, kBacklog) == 0) {
    return socket;
  }
  ::close(socket);
  return -1;
}

Result<int> listen_on(const std::string& host, std::uint16_t port) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string service = std::to_string(port);
  if (::getaddrinfo(host.empty() ? nullptr : host.c_str(), service.c_str(), &wanted, &found) == 0) {
    const std::unique_ptr<addrinfo, AddrInfoDeleter> owner(found);
    for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
      if (const int socket = listen_at(*at); socket >= 0) return socket;
    }
  }
  return fail(ErrorCode::kIo,
              fmt::format("cannot listen on {}:{}: check that the address belongs to this "
                          "machine and that no other process uses the port",
                          host, port));
}

std::uint16_t port_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

// As many connections as the process may have files, which are raised to what it may ask for.
std::size_t affordable_connections(std::size_t wanted) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return wanted;
  const rlim_t needed = wanted + kOtherFiles;
  if (files.rlim_cur < needed) {
    files.rlim_cur = std::min(files.rlim_max, needed);
    ::setrlimit(RLIMIT_NOFILE, &files);
    ::getrlimit(RLIMIT_NOFILE, &files);
  }
  if (files.rlim_cur >= needed) return wanted;
  return std::max<std::size_t>(files.rlim_cur, 2 * kOtherFiles) - kOtherFiles;
}

// The address whose connections count together: an IPv4 address, or an IPv6 network of a customer.
std::string address_group_key(const std::string& peer) {
  const auto address = parse_address(peer);
  if (!address) return peer;
  const std::string_view bytes(reinterpret_cast<const char*>(address->bytes.data()), 16);
  const bool is_ipv4 = peer.contains('.');
  return std::string(bytes.substr(0, is_ipv4 ? 16 : 8));
}

}  // namespace

struct ConnectionLoop::Impl {
  Impl(const ConnectionLoopOptions& given, ConnectionHandler& handler, int listening)
      : options(given),
        shared(given.limits, handler),
        connections_max(affordable_connections(given.limits.connections_max)),
        acceptor(shared.network),
        sweep_timer(shared.network),
        pause_timer(shared.network),
        port(port_of(listening)) {
    acceptor.assign(boost::asio::ip::tcp::v6(), listening);
  }

  const ConnectionLoopOptions options;
  ConnectionLoopShared shared;
  const std::size_t connections_max;
  boost::asio::ip::tcp::acceptor acceptor;
  boost::asio::steady_timer sweep_timer, pause_timer;
  const std::uint16_t port;
  steady_clock::time_point stop_begin = {};
  bool is_stopped = false;  // of the thread that calls stop()
  std::mutex mutex;         // guards the next one
  bool is_empty = false;
  std::condition_variable changed;
  std::thread thread;

  void begin() {
    accept_when_ready();
    sweep_later();
    thread = std::thread([this] { run(); });
  }

  void run() {
    while (true) {
      try {
        shared.network.run();
        return;
      } catch (const std::exception& error) {
        shared.handler.network_failed(error.what());
      }
    }
  }

  void accept_when_ready() {
    acceptor.async_wait(boost::asio::socket_base::wait_read,
                        [this](const boost::system::error_code& error) {
                          if (!error && !shared.is_stopping) accept_some();
                        });
  }

  void accept_some() {
    for (int i = 0; i < kAcceptedAtOnce; ++i) {
      const int socket =
          ::accept4(acceptor.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (socket >= 0) {
        admit(socket);
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        make_room(shared.all);
        pause_timer.expires_after(kAcceptPause);
        pause_timer.async_wait([this](const boost::system::error_code& error) {
          if (!error && !shared.is_stopping) accept_when_ready();
        });
        return;
      } else if (errno != EINTR && errno != ECONNABORTED) {
        break;
      }
    }
    accept_when_ready();
  }

  void admit(int socket) {
    const int yes = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ++shared.accepted;
    std::string peer = peer_address(socket);
    std::string key = shared.handler.is_exempt(peer) ? "" : address_group_key(peer);
    const auto same = shared.addresses.find(key);
    bool has_room = true;
    const std::size_t of_address_max = options.limits.connections_per_address_max;
    if (!key.empty() && same != shared.addresses.end() && same->second.size >= of_address_max) {
      shared.count(ConnectionEnd::kAddressLimit);
      has_room = make_room(same->second) || same->second.size < 2 * of_address_max;
    }
    if (has_room && shared.all.size >= connections_max) {
      shared.count(ConnectionEnd::kTotalLimit);
      has_room = make_room(shared.all);
    }
    if (!has_room) {
      ::close(socket);
      return;
    }
    auto session = std::make_shared<Session>(shared, socket, options.tls ? options.tls() : nullptr,
                                             std::move(peer), std::move(key));
    shared.sessions.emplace(session.get(), session);
    session->start();
  }

  // Ends the connection that has taken longest over something that costs nothing to do again.
  // False: all of them are with workers.
  static bool make_room(const SessionGroup& group) {
    const auto now = steady_clock::now();
    Session* oldest = nullptr;
    const auto consider = [&](const SessionList& list, milliseconds prompt_within) {
      if (list.empty() || now < list.front()->listed_since() + prompt_within) return;
      if (oldest == nullptr || list.front()->listed_since() < oldest->listed_since()) {
        oldest = list.front();
      }
    };
    consider(group.waiting, kPromptHead);
    consider(group.transfer, kPromptTransfer);
    if (oldest == nullptr) return false;
    oldest->close();
    return true;
  }

  void sweep_later() {
    sweep_timer.expires_after(kSweepEvery);
    sweep_timer.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      sweep();
      sweep_later();
    });
  }

  // Sessions may close while they are visited, which removes them from the map.
  template <class Visit>
  void visit_all(const Visit& visit) {
    for (auto at = shared.sessions.begin(); at != shared.sessions.end();) {
      const std::shared_ptr<Session> session = at->second;
      ++at;
      visit(*session);
    }
  }

  void sweep() {
    const auto now = steady_clock::now();
    visit_all([&](Session& session) { session.check_deadlines(now); });
    if (shared.unsent_bytes > options.limits.answers_bytes_max) end_slow_readers(now);
    if (!shared.is_stopping) return;
    const bool is_grace_over = now >= stop_begin + options.limits.stop_grace;
    visit_all([&](Session& session) { session.hurry(is_grace_over); });
    if (!shared.sessions.empty()) return;
    {
      const std::lock_guard lock(mutex);
      is_empty = true;
    }
    changed.notify_all();
  }

  void end_slow_readers(steady_clock::time_point now) {
    std::vector<Session*> slow;
    for (const auto& [session, owner] : shared.sessions) {
      if (session->unsent_bytes() > 0 && session->moved_bytes() < kSwiftBytes &&
          now >= session->phase_begin() + kSwiftWithin) {
        slow.push_back(session);
      }
    }
    std::ranges::stable_sort(slow, std::greater(), &Session::unsent_bytes);
    for (Session* const session : slow) {
      if (shared.unsent_bytes <= options.limits.answers_bytes_max) return;
      session->close_because(ConnectionEnd::kAnswerMemory);
    }
  }

  void stop() {
    if (is_stopped) return;
    is_stopped = true;
    boost::asio::post(shared.network, [this] {
      shared.is_stopping = true;
      stop_begin = steady_clock::now();
      boost::system::error_code ignored;
      std::ignore = acceptor.close(ignored);
      sweep();
    });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return is_empty; });
  }

  // Exchanges that are destroyed meanwhile still post; the context outlives them.
  void end() {
    stop();
    shared.network.stop();
    if (thread.joinable()) thread.join();
  }
};

Result<std::unique_ptr<ConnectionLoop>> ConnectionLoop::open(const ConnectionLoopOptions& options,
                                                             ConnectionHandler& handler) {
  const int listening = TRY(listen_on(options.host, options.port));
  auto impl = std::make_unique<Impl>(options, handler, listening);
  impl->begin();
  return std::make_unique<ConnectionLoop>(std::move(impl));
}

ConnectionLoop::ConnectionLoop(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

ConnectionLoop::~ConnectionLoop() {
  if (impl_) impl_->end();
}

std::uint16_t ConnectionLoop::port() const { return impl_->port; }

ConnectionCounts ConnectionLoop::counts() const {
  ConnectionCounts counts{.open = impl_->shared.open, .accepted = impl_->shared.accepted};
  for (std::size_t i = 0; i < counts.ended.size(); ++i) counts.ended[i] = impl_->shared.ended[i];
  return counts;
}

void ConnectionLoop::stop() { impl_->stop(); }

}  // namespace pennyweight::server
