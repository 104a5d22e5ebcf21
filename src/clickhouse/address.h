// Address: which ClickHouse, in one text:
//
//   clickhouse://[user[:password]@]host[:port][,host[:port]…]/database[?option=value&…]
//
// User, password and the values of options are percent-encoded (RFC 3986, section 2.1) where they
// hold one of : / ? # @ & , or %. A port that is not written is 8123, with tls=1 8443.
//
// Options: cluster (its name in the servers' remote_servers; empty: one server, no replicas),
// tls=1, password_file, ca_file, connect_timeout_ms, timeout_ms, retry_ms, lease_ms, compress=0.
// Source of the form: ClickHouse's own clients; several hosts as in its JDBC driver.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace pennyweight::clickhouse {

struct Address {
  std::vector<std::string> endpoints =
      {};  // "http://host:8123"; any of them may be asked; not empty
  std::string user = "default";
  std::string password = {};
  std::string password_file = {};  // read for each request; instead of `password`
  std::string database = {};       // [A-Za-z_][A-Za-z0-9_]*, at most 128 bytes
  std::string cluster = {};        // empty: one server; else written as `database`
  std::string ca_file = {};        // for https; empty: the system's
  std::chrono::milliseconds connect_timeout{3'000};
  std::chrono::milliseconds timeout{300'000};  // of one statement; of rows: between two pieces
  // For how long after its first failure something that may be sent again is sent again, at one
  // endpoint after the other.
  std::chrono::milliseconds retry{60'000};
  // After so long a silence of a program that is about to commit, it is taken for dead and another
  // may. One that was wrongly taken for dead commits nothing, and says so.
  std::chrono::milliseconds lease{30'000};
  bool compress = true;  // what is sent and received, by gzip
};

// An error of kConfig that says which part is wrong, and never tells the password.
Result<Address> parse_address(std::string_view text);
// Whether it is meant as an address and not as a file's name: it has "://", or begins like one. So
// what is written wrong is refused as an address, and its password is shown to nobody.
bool is_address(std::string_view text);
// Without user, password and the names of files: for messages, logs and lists of ledgers. It can
// be parsed again, and means the same servers, database and cluster.
std::string shown(const Address& address);

}  // namespace pennyweight::clickhouse
