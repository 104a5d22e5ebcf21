// Work on many independent items with several threads. Each item writes only what is its own, so
// the result does not depend on the number of threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace pennyweight {

// Calls work(i) for each i below `count`, on up to `threads` threads. The first exception is thrown
// again here, after all threads have stopped.
template <class Work>
void for_each_index(std::size_t count, unsigned threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;  // guarded by failure_mutex
  std::mutex failure_mutex;
  const auto loop = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  if (threads <= 1 || count <= 1) {
    loop();
  } else {
    std::vector<std::thread> pool;
    for (unsigned t = 0; t < threads; ++t) pool.emplace_back(loop);
    for (std::thread& thread : pool) thread.join();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace pennyweight
