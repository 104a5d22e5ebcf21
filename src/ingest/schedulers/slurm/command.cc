#include "ingest/schedulers/slurm/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "core/check.h"
#include "core/try.h"
#include "ingest/schedulers/slurm/utf8.h"

namespace pennyweight::slurm {
namespace {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_ = -1;
};

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

std::unexpected<Error> refused(std::string_view doing) {
  return fail(ErrorCode::kIo, fmt::format("{}: {}", doing, std::strerror(errno)));
}

Result<Pipe> open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return refused("cannot open a pipe");
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

Result<Descriptor> start_timer(std::chrono::milliseconds after) {
  Descriptor timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer.is_open()) return refused("cannot make a timer");
  const auto ms = std::max<std::int64_t>(after.count(), 1);
  itimerspec when{};
  when.it_value.tv_sec = ms / 1000;
  when.it_value.tv_nsec = ms % 1000 * 1'000'000;
  if (::timerfd_settime(timer.number(), 0, &when, nullptr) != 0) {
    return refused("cannot set a timer");
  }
  return timer;
}

std::vector<std::string> last_of_each_key(const std::vector<std::string>& environment) {
  std::map<std::string, std::string> values;
  for (const std::string& entry : environment) {
    values[entry.substr(0, entry.find('='))] = entry;
  }
  std::vector<std::string> all;
  all.reserve(values.size());
  for (auto& [key, entry] : values) all.push_back(std::move(entry));
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The child process; its group is killed and waited for at the end, whatever happens.
class Child {
 public:
  explicit Child(pid_t id) : id_(id) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (waited_) return;
    kill_group();
    wait();
  }
  void kill_group() const { ::kill(-id_, SIGKILL); }
  int wait() {
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    waited_ = true;
    return status;
  }

 private:
  pid_t id_;
  bool waited_ = false;
};

Result<pid_t> spawn(const Command& command, const Pipe& out, const Pipe& err) {
  std::vector<std::string> words = command.words;
  std::vector<std::string> environment = last_of_each_key(command.environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write_end.number(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write_end.number(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A server ignores SIGPIPE and may block other signals; its children start with the defaults.
  sigset_t none;
  sigset_t usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t id = 0;
  const int failed = ::posix_spawnp(&id, words.front().c_str(), &actions, &attributes,
                                    pointers_to(words).data(), pointers_to(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    return fail(
        failed == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
        fmt::format("cannot start it: {}; is it installed, and in PATH?", std::strerror(failed)));
  }
  return id;
}

// Reads once; closes the pipe at its end.
Result<void> take(Descriptor& pipe, std::string& text, std::size_t bytes_max, bool may_cut) {
  std::array<char, 65'536> buffer;
  const ssize_t got = ::read(pipe.number(), buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR ? Result<void>() : refused("cannot read its output");
  if (got == 0) {
    pipe.close();
    return {};
  }
  const std::size_t room = bytes_max - text.size();
  if (static_cast<std::size_t>(got) > room && !may_cut) {
    return fail(ErrorCode::kLimit,
                fmt::format("it printed more than the limit of {} bytes", bytes_max));
  }
  text.append(buffer.data(), std::min(static_cast<std::size_t>(got), room));
  return {};
}

std::string last_lines(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  std::string shown = shown_as_utf8(text.size() > 400 ? text.substr(text.size() - 400) : text);
  std::replace(shown.begin(), shown.end(), '\n', ' ');
  return shown.empty() ? "it said nothing" : shown;
}

Result<std::string> run(const Command& command) {
  auto out = TRY(open_pipe());
  auto err = TRY(open_pipe());
  const auto timer = TRY(start_timer(command.timeout));
  const auto id = TRY(spawn(command, out, err));
  Child child(id);
  out.write_end.close();
  err.write_end.close();

  std::string text;
  std::string said;
  while (out.read_end.is_open() || err.read_end.is_open()) {
    std::array<pollfd, 3> ready{{{.fd = out.read_end.number(), .events = POLLIN, .revents = 0},
                                 {.fd = err.read_end.number(), .events = POLLIN, .revents = 0},
                                 {.fd = timer.number(), .events = POLLIN, .revents = 0}}};
    if (::poll(ready.data(), ready.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return refused("cannot wait for it");
    }
    if (ready[2].revents != 0) {
      return fail(ErrorCode::kLimit, fmt::format("no complete answer within {} s: {}",
                                                 command.timeout.count() / 1000, last_lines(said)));
    }
    if (ready[0].revents != 0) {
      TRY(take(out.read_end, text, command.output_bytes_max, false));
    }
    if (ready[1].revents != 0) {
      TRY(take(err.read_end, said, kCommandErrorBytesMax, true));
    }
  }
  const int status = child.wait();
  if (WIFSIGNALED(status)) {
    return fail(ErrorCode::kIo, fmt::format("it was killed by signal {}", WTERMSIG(status)));
  }
  if (WEXITSTATUS(status) != 0) {
    return fail(ErrorCode::kIo,
                fmt::format("it exited with {}: {}", WEXITSTATUS(status), last_lines(said)));
  }
  return text;
}

}  // namespace

Result<std::string> run_command(const Command& command) {
  CHECK(!command.words.empty(), "there is a program to run");
  auto text = run(command);
  if (!text) return std::unexpected(text.error().during(command.words.front()));
  return text;
}

}  // namespace pennyweight::slurm
