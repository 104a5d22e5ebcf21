#include "app/daemon/slurm_gate.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pwd.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "config/guardrail_config.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "insight/guardrails/slurm_submission.h"

namespace pennyweight {
namespace {

using guardrails::AdmissionOutcome;

// Of slurmctld, and of each other user; a caller beyond that gets no answer. So no user can keep
// slurmctld from being answered.
constexpr std::size_t kDaemonConnectionsMax = 64;
constexpr std::size_t kUserConnectionsMax = 4;
constexpr std::size_t kGateConnectionsMax = 512;
constexpr int kBacklog = 1024;
constexpr std::chrono::seconds kQuestionTimeMax{2};
constexpr int kWakeMs = 250;  // how often late connections are ended
constexpr std::size_t kGateShownBytesMax = 2000;

std::string error_text(std::string_view what, const std::string& path) {
  return fmt::format("{}: {}: {}", path, what, std::generic_category().message(errno));
}

// A user of this host, as its user database says: a look-up can take long, and as much room as it
// likes.
struct HostUser {
  uid_t id;
  std::string name;
};

using HostUserQuery = std::function<int(passwd*, char*, std::size_t, passwd**)>;

// Nothing: there is no such user.
Result<std::optional<HostUser>> find_host_user(const HostUserQuery& query) {
  constexpr std::size_t kEntryBytesMax = 1U << 20U;
  std::vector<char> text(4096);
  while (true) {
    passwd entry = {};
    passwd* found = nullptr;
    const int problem = query(&entry, text.data(), text.size(), &found);
    if (found != nullptr) return HostUser{.id = found->pw_uid, .name = found->pw_name};
    if (problem == EINTR) continue;
    if (problem == ERANGE && text.size() < kEntryBytesMax) {
      text.resize(text.size() * 4);
      continue;
    }
    // What getpwnam(3) says of names that are not there differs by system.
    const bool is_absent = problem == 0 || problem == ENOENT || problem == ESRCH ||
                           problem == EBADF || problem == EPERM;
    if (is_absent) return std::nullopt;
    return fail(ErrorCode::kIo, fmt::format("the users of this host can't be looked up: {}",
                                            std::generic_category().message(problem)));
  }
}

std::string name_of_user(uid_t id) {
  const auto user =
      find_host_user([&](passwd* entry, char* text, std::size_t size, passwd** found) {
        return ::getpwuid_r(id, entry, text, size, found);
      });
  return user && *user ? (*user)->name : fmt::format("uid {}", id);
}

// By their ids. Of the default, those that this host has; what is configured must be there.
Result<std::map<std::uint32_t, std::string>> resolve_daemon_users(const SlurmGateConfig& config) {
  const bool is_default = config.daemon_users == SlurmGateConfig().daemon_users;
  std::map<std::uint32_t, std::string> daemons;
  for (const std::string& name : config.daemon_users) {
    const auto user =
        find_host_user([&](passwd* entry, char* text, std::size_t size, passwd** found) {
          return ::getpwnam_r(name.c_str(), entry, text, size, found);
        });
    if (!user) return std::unexpected(user.error().during("guardrails.slurm.daemon_users"));
    if (*user) {
      daemons.emplace((*user)->id, name);
    } else if (!is_default) {
      return fail(ErrorCode::kConfig,
                  fmt::format("guardrails.slurm.daemon_users: this host has no user '{}'; name the "
                              "users as which slurmctld runs",
                              printable_text(name, 100)));
    }
  }
  return daemons;
}

// Whether somebody answers at a socket; one that a killed serve left behind answers nobody.
bool is_live(const sockaddr_un& address) {
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  const bool connects =
      ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  ::close(probe);
  return connects;
}

}  // namespace

struct SlurmGate::Connection {
  int socket = -1;
  uid_t user_id = 0;
  std::chrono::steady_clock::time_point end = {};
  std::string text = {};
};

SlurmGate::SlurmGate(const Config& config, const Catalog& catalog,
                     guardrails::ApprovalDesk& approvals, const LimitWatch& limits, Clock& clock,
                     Log& log)
    : slurm_(config.guardrails->slurm),
      policies_(config, catalog, approvals, limits, clock),
      log_(log) {}

SlurmGate::~SlurmGate() { stop(); }

Result<std::unique_ptr<SlurmGate>> SlurmGate::start(const Config& config, const Catalog& catalog,
                                                    guardrails::ApprovalDesk& approvals,
                                                    const LimitWatch& limits, Clock& clock,
                                                    Log& log) {
  auto gate = std::make_unique<SlurmGate>(config, catalog, approvals, limits, clock, log);
  // A mistake in the pricing options shows now, and not at every job.
  std::ignore = TRY(guardrails::estimate_workloads({}, catalog, config.guardrails->pricing));
  auto daemons = TRY(resolve_daemon_users(config.guardrails->slurm));
  gate->daemons_ = std::move(daemons);
  TRY(gate->listen());
  gate->thread_ = std::thread([self = gate.get()] { self->run(); });
  log.info("slurm_gate", {{"socket", config.guardrails->slurm.socket},
                          {"rules", std::uint64_t{config.guardrails->rules.size()}}});
  return gate;
}

Result<void> SlurmGate::listen() {
  const std::string& path = slurm_.socket;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return fail(ErrorCode::kConfig, fmt::format("guardrails.slurm.socket: {}: a socket's path has "
                                                "at most {} bytes",
                                                path, sizeof(address.sun_path) - 1));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  struct stat found{};
  if (::lstat(path.c_str(), &found) == 0) {
    if (!S_ISSOCK(found.st_mode) || is_live(address)) {
      return fail(ErrorCode::kConfig,
                  fmt::format("guardrails.slurm.socket: {} is in use; end what uses it, or name "
                              "another path",
                              path));
    }
    ::unlink(path.c_str());
  }
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) return fail(ErrorCode::kIo, error_text("no socket", path));
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return fail(ErrorCode::kIo, error_text("guardrails.slurm.socket can't be made", path));
  }
  // Every user may ask; what their answer counts for depends on who they are.
  if (::chmod(path.c_str(), 0666) != 0 || ::listen(listener_, kBacklog) != 0) {
    return fail(ErrorCode::kIo, error_text("guardrails.slurm.socket can't be opened", path));
  }
  stop_ = ::eventfd(0, EFD_CLOEXEC);
  if (stop_ < 0) return fail(ErrorCode::kIo, error_text("no event", path));
  return {};
}

void SlurmGate::run() {
  std::vector<Connection> connections;
  while (true) {
    std::vector<pollfd> waits = {{stop_, POLLIN, 0}};
    waits.push_back({listener_, POLLIN, 0});
    for (const Connection& connection : connections) {
      waits.push_back({connection.socket, POLLIN, 0});
    }
    ::poll(waits.data(), waits.size(), connections.empty() ? -1 : kWakeMs);
    if (waits[0].revents != 0) break;
    const auto now = std::chrono::steady_clock::now();
    for (std::size_t i = connections.size(); i-- > 0;) {
      const bool is_ready = waits[i + 2].revents != 0;
      const bool stays = is_ready ? read_some(connections[i]) : now < connections[i].end;
      if (stays) continue;
      ::close(connections[i].socket);
      connections.erase(connections.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (waits[1].revents != 0) accept_all(connections);
  }
  for (const Connection& connection : connections) ::close(connection.socket);
}

bool SlurmGate::has_place(const std::vector<Connection>& connections,
                          const Connection& fresh) const {
  const auto of_user = static_cast<std::size_t>(std::ranges::count_if(
      connections,
      [&](const Connection& connection) { return connection.user_id == fresh.user_id; }));
  if (daemons_.contains(fresh.user_id)) return of_user < kDaemonConnectionsMax;
  return of_user < kUserConnectionsMax && connections.size() < kGateConnectionsMax;
}

void SlurmGate::accept_all(std::vector<Connection>& connections) {
  // Not for ever: those who were accepted are answered in between.
  for (int turn = 0; turn < kBacklog; ++turn) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0) return;
    ucred peer{};
    socklen_t size = sizeof(peer);
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
      ::close(socket);
      continue;
    }
    Connection connection{.socket = socket,
                          .user_id = peer.uid,
                          .end = std::chrono::steady_clock::now() + kQuestionTimeMax};
    if (!has_place(connections, connection)) {
      ::close(socket);
      continue;
    }
    connections.push_back(std::move(connection));
  }
}

bool SlurmGate::read_some(Connection& connection) {
  std::array<char, 16U << 10U> buffer;
  const ssize_t count = ::recv(connection.socket, buffer.data(), buffer.size(), 0);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  connection.text.append(buffer.data(), static_cast<std::size_t>(count));
  const bool is_whole = connection.text.find("\n\n") != std::string::npos ||
                        connection.text.size() > guardrails::kSubmissionBytesMax;
  if (!is_whole) return true;
  // Answers are far smaller than a socket's buffer; a caller that has gone gets none.
  const std::string text = answer_whatever_happens(connection);
  std::ignore = ::send(connection.socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return false;
}

// The plugin takes an error as it takes no answer at all.
std::string SlurmGate::answer_whatever_happens(const Connection& connection) {
  try {
    return answer(connection);
  } catch (const std::bad_alloc&) {
    ++failed_;
  } catch (const std::exception& error) {
    ++failed_;
    log_.error("slurm_gate_failed", {{"why", printable_text(error.what(), kGateShownBytesMax)}});
  }
  return guardrails::slurm_error_answer("serve failed to answer; its log says why");
}

std::string SlurmGate::answer(const Connection& connection) {
  const auto daemon = daemons_.find(connection.user_id);
  const guardrails::SubmissionCaller caller = {
      .user = daemon != daemons_.end() ? daemon->second : name_of_user(connection.user_id),
      .is_slurm_daemon = daemon != daemons_.end()};
  auto current = policies_.current();
  guardrails::AdmissionPolicy& policy = current.policy;
  policy.admits_unknown = slurm_.admits_unknown;
  const auto answered =
      guardrails::answer_slurm_submission(connection.text, caller, policy, current.today);
  if (!answered) {
    ++malformed_;
    log_.warn_hourly("slurm_gate_refused", caller.user,
                     {{"user", caller.user}, {"why", answered.error().message}});
    return guardrails::slurm_error_answer(answered.error().message);
  }
  ++answers_[answered->is_submission ? 0 : 1][static_cast<std::size_t>(answered->outcome)];
  const bool is_noted = !answered->is_allowed || answered->outcome == AdmissionOutcome::kUnknown;
  if (is_noted && answered->is_submission) {
    log_.info("slurm_submission",
              {{"allowed", std::string(answered->is_allowed ? "true" : "false")},
               {"job", answered->job},
               {"user", answered->user},
               {"why", printable_text(answered->message, kGateShownBytesMax)}});
  }
  return answered->text;
}

void SlurmGate::add_metrics(server::MetricsText& metrics) const {
  constexpr std::string_view kCalls[] = {"submit", "advise"};
  metrics.family("pennyweight_slurm_submissions_total", "counter",
                 "Questions of Slurm's plugins about jobs, by call and outcome.");
  for (std::size_t call = 0; call < std::size(kCalls); ++call) {
    for (std::size_t outcome = 0; outcome < kOutcomes; ++outcome) {
      metrics.sample({{"call", std::string(kCalls[call])},
                      {"outcome", std::string(guardrails::kAdmissionOutcomeWords[outcome])}},
                     answers_[call][outcome].load());
    }
  }
  metrics.family("pennyweight_slurm_malformed_total", "counter",
                 "Questions on the socket for Slurm that could not be read.");
  metrics.sample({}, malformed_.load());
  metrics.family("pennyweight_slurm_failed_total", "counter",
                 "Questions of Slurm's plugins that serve failed to answer; the log says why.");
  metrics.sample({}, failed_.load());
}

void SlurmGate::stop() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    std::ignore = ::write(stop_, &one, sizeof(one));
    thread_.join();
    ::unlink(slurm_.socket.c_str());
  }
  for (int* descriptor : {&listener_, &stop_}) {
    if (*descriptor >= 0) ::close(*descriptor);
    *descriptor = -1;
  }
}

}  // namespace pennyweight
