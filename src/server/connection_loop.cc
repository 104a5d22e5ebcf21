#include "server/connection_loop.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "core/check.h"

namespace pennyweight::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How often idle connections are reaped, and how long to wait before accepting again when the
// process has no file descriptors left.
constexpr milliseconds kReapEvery{250};
constexpr milliseconds kAcceptPause{20};
// How often stop() checks for busy connections.
constexpr milliseconds kStopPoll{20};
constexpr std::uint32_t kReadable = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT;

void watch_socket(int epoll, int how, int socket, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = socket;
  CHECK(::epoll_ctl(epoll, how, socket, &event) == 0, "epoll_ctl works on sockets of ours");
}

}  // namespace

ConnectionLoop::ConnectionLoop(const ConnectionLoopOptions& options, Serve serve)
    : options_(options), serve_(std::move(serve)) {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  CHECK(epoll_ >= 0 && wake_ >= 0, "there are file descriptors for the loop itself");
  watch_socket(epoll_, EPOLL_CTL_ADD, wake_, EPOLLIN);
  watch_socket(epoll_, EPOLL_CTL_ADD, options_.listening, EPOLLIN);
  for (std::uint32_t i = 0; i < options_.threads; ++i) workers_.emplace_back([this] { work(); });
  watcher_ = std::thread([this] { watch(); });
}

ConnectionLoop::~ConnectionLoop() {
  stop();
  ::close(epoll_);
  ::close(wake_);
}

std::size_t ConnectionLoop::connections() const {
  return idle_.size() + ready_.size() + busy_.size();
}

void ConnectionLoop::watch() {
  std::array<epoll_event, 64> events;
  Time next_reap = steady_clock::now() + kReapEvery;
  while (!stopping_) {
    const int found = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()),
                                   static_cast<int>(kReapEvery.count()));
    for (int i = 0; i < found; ++i) {
      const int socket = events[static_cast<std::size_t>(i)].data.fd;
      if (socket == wake_) continue;
      if (socket == options_.listening) {
        accept_all();
        continue;
      }
      const std::lock_guard lock(mutex_);
      const auto idle = idle_.find(socket);
      if (idle != idle_.end()) hand_over(idle);
    }
    if (const Time now = steady_clock::now(); now >= next_reap) {
      reap_idle(now);
      next_reap = now + kReapEvery;
    }
  }
}

void ConnectionLoop::accept_all() {
  while (!stopping_) {
    const int socket =
        ::accept4(options_.listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket >= 0) {
      admit(socket);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      std::this_thread::sleep_for(kAcceptPause);
      return;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

void ConnectionLoop::admit(int socket) {
  const int yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  auto connection = std::make_unique<Connection>(socket, options_.tls, options_.idle_timeout);
  const std::lock_guard lock(mutex_);
  if (connections() >= options_.connections_max) return;  // closes it
  idle_[socket] = {std::move(connection), steady_clock::now() + options_.idle_timeout};
  watch_socket(epoll_, EPOLL_CTL_ADD, socket, kReadable);
}

void ConnectionLoop::reap_idle(Time now) {
  const std::lock_guard lock(mutex_);
  std::erase_if(idle_, [&](const auto& entry) { return entry.second.until <= now; });
}

void ConnectionLoop::hand_over(std::map<int, IdleConnection>::iterator idle) {
  ready_.push_back(std::move(idle->second.connection));
  idle_.erase(idle);
  changed_.notify_one();
}

void ConnectionLoop::make_idle(std::unique_ptr<Connection> connection) {
  const std::lock_guard lock(mutex_);
  busy_.erase(connection.get());
  if (stopping_) return;
  if (connection->has_buffered()) {
    // Queued behind connections that have waited longer.
    ready_.push_back(std::move(connection));
    changed_.notify_one();
    return;
  }
  const int socket = connection->socket();
  idle_[socket] = {std::move(connection), steady_clock::now() + options_.idle_timeout};
  watch_socket(epoll_, EPOLL_CTL_MOD, socket, kReadable);
}

void ConnectionLoop::work() {
  while (true) {
    std::unique_ptr<Connection> connection;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !ready_.empty(); });
      if (stopping_) return;
      connection = std::move(ready_.front());
      ready_.pop_front();
      connection->enter(Connection::Phase::kHead);
      busy_.insert(connection.get());
    }
    if (connection->handshake() && serve_(*connection)) {
      make_idle(std::move(connection));
      continue;
    }
    {
      const std::lock_guard lock(mutex_);
      busy_.erase(connection.get());
    }
  }
}

void ConnectionLoop::stop() {
  if (!watcher_.joinable()) return;
  stopping_ = true;
  const std::uint64_t one = 1;
  // Fails only if the watcher has been woken already.
  if (::write(wake_, &one, sizeof one) < 0) CHECK(errno == EAGAIN, "the watcher can be woken");
  watcher_.join();
  ::close(options_.listening);
  const Time stopped_at = steady_clock::now();
  {
    std::unique_lock lock(mutex_);
    idle_.clear();
    ready_.clear();
    changed_.notify_all();
    while (!busy_.empty()) {
      const bool is_grace_over = steady_clock::now() >= stopped_at + kGrace;
      for (Connection* const connection : busy_) {
        switch (connection->phase()) {
          case Connection::Phase::kHead:
          case Connection::Phase::kStream:
            connection->hang_up();
            break;
          case Connection::Phase::kBody:
          case Connection::Phase::kAnswer:
            if (is_grace_over) connection->hang_up();
            break;
          case Connection::Phase::kHandler:
            break;
        }
      }
      changed_.wait_for(lock, kStopPoll, [&] { return busy_.empty(); });
    }
  }
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
}

}  // namespace pennyweight::server
