// WorkerPool: threads that run tasks, fairly between those who ask.
//
// Every task belongs to somebody: a user, or an address. The threads serve them in turn, whoever
// has how many tasks waiting, and one of them gets only some of the threads at a time. So who asks
// for a thousand heavy answers waits for them, and nobody else does.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace pennyweight::server {

class WorkerPool {
 public:
  using Task = std::function<void()>;

  // `owner_threads`: how many tasks of one owner run at a time.
  WorkerPool(std::uint32_t threads, std::uint32_t owner_threads);
  ~WorkerPool();  // does what stop() does
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Runs the task on one of the threads. After stop() it is dropped.
  void submit(const std::string& owner, Task task);
  // Drops tasks that have not begun; those that run go on.
  void drop_waiting();
  // Does that, and waits for the running ones.
  void stop();

 private:
  struct Owner {
    std::deque<Task> waiting;
    std::uint32_t running = 0;
    bool is_in_turn = false;  // in turn_
  };

  void work();
  // Puts an owner in turn that has a task to begin: whether it did, so that a thread is to be
  // woken. REQUIRES: mutex_ is held.
  bool give_turn(const std::string& name, Owner& owner);

  const std::uint32_t owner_threads_;
  std::mutex mutex_;  // guards the next four
  std::condition_variable changed_;
  std::map<std::string, Owner> owners_;
  std::deque<std::string> turn_;  // owners that a thread can serve, the next one first
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace pennyweight::server
