#include "server/worker_pool.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace pennyweight::server {

WorkerPool::WorkerPool(std::uint32_t threads, std::uint32_t owner_threads)
    : owner_threads_(std::max(1U, owner_threads)) {
  for (std::uint32_t i = 0; i < std::max(1U, threads); ++i)
    threads_.emplace_back([this] { work(); });
}

WorkerPool::~WorkerPool() { stop(); }

void WorkerPool::submit(const std::string& owner, Task task) {
  bool has_turn = false;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    Owner& of = owners_[owner];
    of.waiting.push_back(std::move(task));
    has_turn = give_turn(owner, of);
  }
  // A thread that is woken while the mutex is held would only go back to sleep, for the mutex.
  if (has_turn) changed_.notify_one();
}

bool WorkerPool::give_turn(const std::string& name, Owner& owner) {
  if (owner.is_in_turn || owner.waiting.empty() || owner.running >= owner_threads_) return false;
  owner.is_in_turn = true;
  turn_.push_back(name);
  return true;
}

void WorkerPool::drop_waiting() {
  std::vector<Task> dropped;  // destroyed without the mutex
  const std::lock_guard lock(mutex_);
  for (auto& [name, owner] : owners_) {
    std::ranges::move(owner.waiting, std::back_inserter(dropped));
    owner.waiting.clear();
  }
}

void WorkerPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  drop_waiting();
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void WorkerPool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !turn_.empty(); });
    if (stopping_) return;
    const std::string name = std::move(turn_.front());
    turn_.pop_front();
    Owner& owner = owners_.at(name);
    owner.is_in_turn = false;
    if (owner.waiting.empty()) {  // dropped
      if (owner.running == 0) owners_.erase(name);
      continue;
    }
    Task task = std::move(owner.waiting.front());
    owner.waiting.pop_front();
    ++owner.running;
    const bool has_turn = give_turn(name, owner);
    lock.unlock();
    if (has_turn) changed_.notify_one();
    task();
    task = nullptr;  // what it holds ends before the next one begins
    lock.lock();
    // Owners are nodes of a map: others that come and go leave this one where it is.
    --owner.running;
    std::ignore = give_turn(name, owner);  // nobody is woken: this thread takes what is next
    if (owner.running == 0 && !owner.is_in_turn) owners_.erase(name);
  }
}

}  // namespace pennyweight::server
