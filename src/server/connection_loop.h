// ConnectionLoop: accepts connections and hands them to threads, one request at a time.
//
// An idle connection waits in epoll and costs no thread; when bytes arrive, a thread reads one
// request, answers it, and returns the connection. So a hundred browsers that keep six connections
// open each do no harm, and stop() need not wait for them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "server/connection.h"

namespace pennyweight::server {

struct ConnectionLoopOptions {
  int listening = -1;  // the listening socket; the loop takes ownership
  SSL_CTX* tls = nullptr;
  std::uint32_t threads = 1;
  std::size_t connections_max = 4096;  // further ones are closed at once
  std::chrono::milliseconds idle_timeout{30'000};
};

class ConnectionLoop {
 public:
  // Serves one request. Returns whether the connection can take another one.
  using Serve = std::function<bool(Connection&)>;

  ConnectionLoop(const ConnectionLoopOptions& options, Serve serve);
  ~ConnectionLoop();  // does what stop() does
  ConnectionLoop(const ConnectionLoop&) = delete;
  ConnectionLoop& operator=(const ConnectionLoop&) = delete;

  // Accepts no new connection and no new request. Cuts streams, and after kGrace also clients that
  // have not sent their whole request or received their whole answer. Waits for handlers.
  void stop();
  static constexpr std::chrono::milliseconds kGrace{2'000};

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct IdleConnection {
    std::unique_ptr<Connection> connection;
    Time until;
  };

  void watch();  // the thread that watches idle connections
  void work();   // a thread that serves requests
  void accept_all();
  void reap_idle(Time now);
  void admit(int socket);
  // Gives an idle connection to the serving threads. REQUIRES: mutex_ is held.
  void hand_over(std::map<int, IdleConnection>::iterator idle);
  void make_idle(std::unique_ptr<Connection> connection);
  std::size_t connections() const;  // REQUIRES: mutex_ is held.

  const ConnectionLoopOptions options_;
  const Serve serve_;
  int epoll_ = -1;
  int wake_ = -1;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;  // guards the next four
  std::condition_variable changed_;
  std::map<int, IdleConnection> idle_;  // by socket
  std::deque<std::unique_ptr<Connection>> ready_;
  std::set<Connection*> busy_;
  std::vector<std::thread> workers_;
  std::thread watcher_;
};

}  // namespace pennyweight::server
