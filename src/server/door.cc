#include "server/door.h"

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

// How often is looked for connections that have waited too long, and how long who has no
// descriptors left waits before accepting again.
constexpr milliseconds kGlance{250};
constexpr milliseconds kNoDescriptors{20};
// How often stop() looks at who is still busy.
constexpr milliseconds kStopGlance{20};
constexpr std::uint32_t kFirstWord = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT;

void watch_socket(int epoll, int how, int socket, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = socket;
  CHECK(::epoll_ctl(epoll, how, socket, &event) == 0, "a socket of ours can be watched");
}

}  // namespace

Door::Door(const DoorOptions& options, Serve serve) : options_(options), serve_(std::move(serve)) {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  CHECK(epoll_ >= 0 && wake_ >= 0, "there are descriptors for the door itself");
  watch_socket(epoll_, EPOLL_CTL_ADD, wake_, EPOLLIN);
  watch_socket(epoll_, EPOLL_CTL_ADD, options_.listening, EPOLLIN);
  for (std::uint32_t i = 0; i < options_.threads; ++i) workers_.emplace_back([this] { work(); });
  watcher_ = std::thread([this] { watch(); });
}

Door::~Door() {
  stop();
  ::close(epoll_);
  ::close(wake_);
}

std::size_t Door::connections() const { return waiting_.size() + called_.size() + busy_.size(); }

void Door::watch() {
  std::array<epoll_event, 64> events;
  Time next_glance = steady_clock::now() + kGlance;
  while (!stopping_) {
    const int found = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()),
                                   static_cast<int>(kGlance.count()));
    for (int i = 0; i < found; ++i) {
      const int socket = events[static_cast<std::size_t>(i)].data.fd;
      if (socket == wake_) continue;
      if (socket == options_.listening) {
        accept_all();
        continue;
      }
      const std::lock_guard lock(mutex_);
      const auto waiting = waiting_.find(socket);
      if (waiting != waiting_.end()) call(waiting);
    }
    if (const Time now = steady_clock::now(); now >= next_glance) {
      drop_idle(now);
      next_glance = now + kGlance;
    }
  }
}

void Door::accept_all() {
  while (!stopping_) {
    const int socket =
        ::accept4(options_.listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket >= 0) {
      admit(socket);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      std::this_thread::sleep_for(kNoDescriptors);
      return;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return;
    }
  }
}

void Door::admit(int socket) {
  const int yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  auto connection = std::make_unique<Connection>(socket, options_.tls, options_.idle_timeout);
  const std::lock_guard lock(mutex_);
  if (connections() >= options_.connections_max) return;  // closes it
  waiting_[socket] = {std::move(connection), steady_clock::now() + options_.idle_timeout};
  watch_socket(epoll_, EPOLL_CTL_ADD, socket, kFirstWord);
}

void Door::drop_idle(Time now) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](const auto& entry) { return entry.second.until <= now; });
}

void Door::call(std::map<int, Waiting>::iterator waiting) {
  called_.push_back(std::move(waiting->second.connection));
  waiting_.erase(waiting);
  changed_.notify_one();
}

void Door::wait_for_next(std::unique_ptr<Connection> connection) {
  const std::lock_guard lock(mutex_);
  busy_.erase(connection.get());
  if (stopping_) return;
  if (connection->has_buffered()) {
    // Behind those who have waited longer.
    called_.push_back(std::move(connection));
    changed_.notify_one();
    return;
  }
  const int socket = connection->socket();
  waiting_[socket] = {std::move(connection), steady_clock::now() + options_.idle_timeout};
  watch_socket(epoll_, EPOLL_CTL_MOD, socket, kFirstWord);
}

void Door::work() {
  while (true) {
    std::unique_ptr<Connection> connection;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !called_.empty(); });
      if (stopping_) return;
      connection = std::move(called_.front());
      called_.pop_front();
      connection->enter(Connection::Phase::kHead);
      busy_.insert(connection.get());
    }
    if (connection->greet() && serve_(*connection)) {
      wait_for_next(std::move(connection));
      continue;
    }
    {
      const std::lock_guard lock(mutex_);
      busy_.erase(connection.get());
    }
  }
}

void Door::stop() {
  if (!watcher_.joinable()) return;
  stopping_ = true;
  const std::uint64_t one = 1;
  // Fails only where it has been woken already.
  if (::write(wake_, &one, sizeof one) < 0) CHECK(errno == EAGAIN, "the door can be woken");
  watcher_.join();
  ::close(options_.listening);
  const Time begun = steady_clock::now();
  {
    std::unique_lock lock(mutex_);
    waiting_.clear();
    called_.clear();
    changed_.notify_all();
    while (!busy_.empty()) {
      const bool is_over = steady_clock::now() >= begun + kGrace;
      for (Connection* const connection : busy_) {
        switch (connection->phase()) {
          case Connection::Phase::kHead:
          case Connection::Phase::kStream:
            connection->hang_up();
            break;
          case Connection::Phase::kBody:
          case Connection::Phase::kAnswer:
            if (is_over) connection->hang_up();
            break;
          case Connection::Phase::kHandler:
            break;
        }
      }
      changed_.wait_for(lock, kStopGlance, [&] { return busy_.empty(); });
    }
  }
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
}

}  // namespace pennyweight::server
