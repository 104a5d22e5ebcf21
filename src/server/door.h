// Door: connections, and the threads that serve them.
//
// A connection that says nothing waits in epoll and costs no thread; when it speaks, a thread reads
// one request, answers it, and puts the connection back. So a hundred browsers that keep six
// connections open each are no trouble, and stop() need not wait for them.
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

struct DoorOptions {
  int listening = -1;  // owned from here on
  SSL_CTX* tls = nullptr;
  std::uint32_t threads = 1;
  std::size_t connections_max = 4096;  // a further one is closed at once
  std::chrono::milliseconds idle_timeout{30'000};
};

class Door {
 public:
  // Serves one request; whether the connection goes on.
  using Serve = std::function<bool(Connection&)>;

  Door(const DoorOptions& options, Serve serve);
  ~Door();  // ends like stop()
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  // No new connection and no new request. Streams are cut, and so is who has not sent the whole of
  // his request, or taken the whole of his answer, within kGrace. Waits for handlers.
  void stop();
  static constexpr std::chrono::milliseconds kGrace{2'000};

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Waiting {
    std::unique_ptr<Connection> connection;
    Time until;
  };

  void watch();  // the thread of those that wait
  void work();   // a thread that serves
  void accept_all();
  void drop_idle(Time now);
  void admit(int socket);
  // Gives it to the threads. REQUIRES: mutex_ is held.
  void call(std::map<int, Waiting>::iterator waiting);
  void wait_for_next(std::unique_ptr<Connection> connection);
  std::size_t connections() const;  // REQUIRES: mutex_ is held.

  const DoorOptions options_;
  const Serve serve_;
  int epoll_ = -1;
  int wake_ = -1;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;  // of the next four
  std::condition_variable changed_;
  std::map<int, Waiting> waiting_;  // by socket
  std::deque<std::unique_ptr<Connection>> called_;
  std::set<Connection*> busy_;
  std::vector<std::thread> workers_;
  std::thread watcher_;
};

}  // namespace pennyweight::server
