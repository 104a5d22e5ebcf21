// KeptHead: the head of an audit log, signed and kept beside it, so that a cut, rewritten or
// replaced end is found at the next append, at the next start, and by verify().
//
// The log's lines vouch for one another by plain hashes, which anybody can compute again. The kept
// head is signed by HMAC-SHA256 with a key that the configuration can put elsewhere. A line is
// announced here before it is written and confirmed afterwards: whatever is killed in between, the
// log is known to end with the confirmed line or with the announced one, and with nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/files/disk.h"
#include "server/audit_log/audit_log.h"

namespace pennyweight::audit_log {

class KeptHead {
 public:
  // What the file says. An announced line may be there or not.
  struct State {
    Head confirmed;  // number 0: the log is empty
    std::optional<Head> announced;
    bool allows(const Head& found) const {
      return found == confirmed || (announced && found == *announced);
    }
  };

  // Nothing if there is neither key nor head: a new log, or one of an earlier version. An Error:
  // one of the two is missing, the key can't be read, or the head isn't signed by it.
  static Result<std::optional<KeptHead>> open(const LogFiles& files);
  // Makes a key, if there is none, and a head. REQUIRES: the caller has the log's exclusive lock.
  static Result<KeptHead> create(const LogFiles& files, const Head& head);

  // Reads the file again, which other processes may have changed. The callers of these have the
  // log's lock, the exclusive one to write.
  Result<State> read() const;
  // On disk when it returns.
  Result<void> announce(const Head& confirmed, const Head& next);
  // Durable with the next announcement; until then the announcement says as much.
  Result<void> confirm(const Head& head);

  // The state in the bytes of a head file: that of the newest record with a right signature.
  static Result<State> parse(std::string_view bytes, std::string_view key);

 private:
  KeptHead(FileDescriptor file, std::string path, std::string key)
      : file_(std::move(file)), path_(std::move(path)), key_(std::move(key)) {}
  Result<void> write(const Head& confirmed, const std::optional<Head>& announced);

  FileDescriptor file_;
  std::string path_;
  std::string key_;
};

}  // namespace pennyweight::audit_log
