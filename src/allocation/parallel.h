// Runs independent work on several threads. Each item writes only its own output, so the result
// does not depend on the number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace pennyweight {

// Calls work(i) for each i below `count`, on up to `threads` threads. Rethrows the first exception
// after all threads have stopped.
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

// Sorts on several threads. REQUIRES: no two items are equal, or the result would depend on
// `threads`.
template <class Item, class Before>
void sort_by(std::vector<Item>& items, unsigned threads, const Before& before) {
  const std::size_t parts = std::max(1u, threads);
  const auto at = [&](std::size_t part) {
    return items.begin() + static_cast<std::ptrdiff_t>(items.size() * part / parts);
  };
  for_each_index(parts, threads, [&](std::size_t p) { std::sort(at(p), at(p + 1), before); });
  for (std::size_t p = 1; p < parts; ++p) {
    std::inplace_merge(items.begin(), at(p), at(p + 1), before);
  }
}

}  // namespace pennyweight
