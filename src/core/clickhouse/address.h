// Address: the servers and the database of a ledger on ClickHouse, as one text:
//
//   clickhouse://[user[:password]@]host[:port][,host[:port]…]/database[?option=value&…]
//
// In the user, the password and the values of options the characters : / ? # @ & , and % are
// percent-encoded (RFC 3986, section 2.1). The default port is 8123, with tls=1 8443.
//
// Options: cluster (its name in the servers' remote_servers; empty: one server, no replicas),
// tls=1, password_file, ca_file, connect_timeout_ms, timeout_ms, retry_ms, lease_ms, compress=0.
// The form follows ClickHouse's own clients; several hosts are written as in its JDBC driver.
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
  // For how long after a first failure a statement that may be repeated is sent again, to one
  // endpoint after the other.
  std::chrono::milliseconds retry{60'000};
  // A program that is about to commit and stays silent for this long is taken for dead, and another
  // may commit. One that was wrongly taken for dead commits nothing and reports that.
  std::chrono::milliseconds lease{30'000};
  bool compress = true;  // gzip requests and answers
};

// An Error of kConfig says which part is wrong and never shows the password.
Result<Address> parse_address(std::string_view text);
// Whether a text is meant as an address and not as a file's name: it has "://", or begins like one.
// So a malformed address is refused as an address, and its password is not shown.
bool is_address(std::string_view text);
// The address without user, password and names of files, for messages, logs and lists of ledgers.
// It parses as an address of the same servers, database and cluster.
std::string shown(const Address& address);

}  // namespace pennyweight::clickhouse
