#include "server/worker_pool.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

namespace pennyweight::server {
namespace {

TEST(WorkerPool, ServesOwnersInTurn) {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_open = false;
  std::vector<std::string> order;
  WorkerPool pool(1, 1);
  pool.submit("first", [&] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return is_open; });
  });
  for (const char* const owner : {"greedy", "greedy", "greedy", "greedy", "modest", "modest"}) {
    pool.submit(owner, [&, owner] {
      const std::lock_guard lock(mutex);
      order.emplace_back(owner);
      changed.notify_all();
    });
  }
  std::unique_lock lock(mutex);
  is_open = true;
  changed.notify_all();
  changed.wait(lock, [&] { return order.size() == 6; });
  EXPECT_EQ(order,
            (std::vector<std::string>{"greedy", "modest", "greedy", "modest", "greedy", "greedy"}));
}

TEST(WorkerPool, LeavesThreadsToOthersAndDropsWhatHasNotBegun) {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_open = false;
  int greedy = 0, modest = 0;
  WorkerPool pool(4, 2);
  for (int i = 0; i < 10; ++i) {
    pool.submit("greedy", [&] {
      std::unique_lock lock(mutex);
      ++greedy;
      changed.notify_all();
      changed.wait(lock, [&] { return is_open; });
    });
  }
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return greedy == 2; });
  lock.unlock();
  pool.submit("modest", [&] {
    const std::lock_guard inside(mutex);
    ++modest;
    changed.notify_all();
  });
  lock.lock();
  changed.wait(lock, [&] { return modest == 1; });
  EXPECT_EQ(greedy, 2);
  lock.unlock();
  pool.drop_waiting();
  lock.lock();
  is_open = true;
  changed.notify_all();
  lock.unlock();
  pool.stop();
  EXPECT_EQ(greedy, 2);
}

}  // namespace
}  // namespace pennyweight::server
