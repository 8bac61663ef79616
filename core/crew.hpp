// The threads of one solve: tasks, shared loops, progress, and stopping early.

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "poll.hpp"

namespace labelcut {

struct Stopped : std::exception {};

// Lets the calling thread call poll a few times a second, and every thread notice that it should stop.
class Pace {
 public:
  explicit Pace(const Poll& poll) : poll_(poll), caller_(std::this_thread::get_id()), last_(Clock::now()) {}

  // Cheap; called after every few thousand arcs.
  void tick() {
    if (stop_.load(std::memory_order_relaxed)) throw Stopped();
    if (std::this_thread::get_id() != caller_) return;
    const auto now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    poll_(n_settled_.load(std::memory_order_relaxed));
  }
  void settled(std::int64_t n) { n_settled_.fetch_add(n, std::memory_order_relaxed); }
  void stop() { stop_.store(true, std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;
  const Poll& poll_;
  std::thread::id caller_;
  Clock::time_point last_;
  std::atomic<bool> stop_{false};
  std::atomic<std::int64_t> n_settled_{0};
};

// Threads that do tasks and, while there are none to take, share the loops of those at work. What a chunk of a loop
// computes must not depend on the order in which chunks run.
//
// Idle threads spin, then nap, instead of waiting on a condition variable: they wait for a task, for a loop and for the end
// at once, and the calling thread has to poll besides; next to the 100 to 1000 microseconds of a shared step of a search,
// being woken (5 to 12) would gain little over a nap.
class Crew {
 public:
  // try_task does one task, if there is any, and tells whether there was.
  Crew(int n_threads, Pace& pace, std::function<bool()> try_task) : pace_(pace), try_task_(std::move(try_task)) {
    for (int k = 1; k < n_threads; ++k) {
      helpers_.emplace_back([this] { work_until([this] { return is_over_.load(); }); });
    }
  }
  ~Crew() {
    is_over_ = true;
    for (auto& helper : helpers_) helper.join();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  std::size_t n_threads() const { return helpers_.size() + 1; }
  bool is_alone() const { return helpers_.empty(); }

  // Does tasks, and helps others, until told to stop; an exception on any thread stops all.
  template <typename IsDone>
  void work_until(const IsDone& is_done) {
    int n_idle = 0;
    while (!is_done() && !has_failed_) {
      bool was_useful = false;
      guard([&] {
        pace_.tick();
        was_useful = try_task_() || help();
      });
      n_idle = was_useful ? 0 : n_idle + 1;
      if (n_idle > 1000) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      } else if (n_idle > 0) {
        std::this_thread::yield();
      }
    }
  }

  // Does one thing on this thread, during which the others may help.
  void lead(const std::function<void()>& thing) {
    guard(thing);
    rethrow_failure();
  }

  // Calls job(chunk) for every chunk below n_chunks, and returns when all are done.
  void run(std::size_t n_chunks, const std::function<void(std::size_t)>& job) {
    Loop loop{job, n_chunks};
    if (is_alone() || n_chunks < 2) {
      loop.take_chunks();
      return;
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      loops_.push_back(&loop);
    }
    guard([&] { loop.take_chunks(); });
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      loops_.erase(std::find(loops_.begin(), loops_.end(), &loop));
    }
    while (loop.n_helping > 0) {
      // A chunk may take long, and the caller's poll must not wait for it.
      if (!has_failed_) guard([&] { pace_.tick(); });
      std::this_thread::yield();
    }
    if (has_failed_) throw Stopped();
  }

  // Calls job(range, begin, end) for n_ranges() ranges that together are 0 .. n.
  template <typename Job>
  void run_ranges(std::size_t n, const Job& job) {
    const std::size_t n_all = n_ranges();
    run(n_all, [&](std::size_t range) { job(range, n * range / n_all, n * (range + 1) / n_all); });
  }
  std::size_t n_ranges() const { return is_alone() ? 1 : 32; }

  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  struct Loop {
    const std::function<void(std::size_t)>& job;
    const std::size_t n_chunks;
    std::atomic<std::size_t> next{0};
    std::atomic<int> n_helping{0};

    void take_chunks() {
      for (std::size_t chunk = next++; chunk < n_chunks; chunk = next++) job(chunk);
    }
  };

  bool help() {
    Loop* loop = nullptr;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (Loop* open : loops_) {
        if (open->next < open->n_chunks) loop = open;
      }
      if (loop == nullptr) return false;
      ++loop->n_helping;
    }
    guard([&] { loop->take_chunks(); });
    --loop->n_helping;
    return true;
  }

  // Does it; an exception is kept and stops all threads.
  template <typename Thing>
  void guard(const Thing& thing) {
    try {
      thing();
    } catch (...) {
      pace_.stop();
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      has_failed_ = true;
    }
  }

  Pace& pace_;
  const std::function<bool()> try_task_;
  std::atomic<bool> is_over_{false};
  std::atomic<bool> has_failed_{false};
  std::exception_ptr failure_;
  std::mutex mutex_;
  std::vector<Loop*> loops_;
  std::vector<std::thread> helpers_;
};

}  // namespace labelcut
