// Refusal: what ClickHouse says when it can't, found in what it sends, and what may be done about
// it.
//
// It says "Code: 47, e.displayText() = DB::Exception: …, e.what() = DB::Exception" (18.16) or
// "Code: 47. DB::Exception: … (version 26.5.3.1)" (today): in place of an answer, or, where a part
// of the answer was on its way already, behind that part.
// Source: dbms/src/Server/HTTPHandler.cpp, dbms/src/Common/ErrorCodes.cpp of 18.16 and their
// successors; codes keep their meaning.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pennyweight::clickhouse {

// What kind of failure it was, for those who do something about it.
enum class Refusal {
  kNone,
  kUnreachable,  // nobody answered, or the answer broke off; nothing was done
  kUncertain,    // it may have been done, or some of it: the answer to a statement that writes
                 // broke off, or code 319 (unknown status of insert), or of such a statement 32,
                 // 159, 209, 210, 236, 244, 279, 1000 (a shard was lost on the way)
  kNotYet,       // it is worth asking again later, or somebody else: codes 285, 286 (quorum), 289
                 // (replica behind), 242 (read only), 225, 254, 999 (no ZooKeeper), 252 (too many
                 // parts), 202, 203, 439, 745 (too much to do); and those of a lost shard above,
                 // where nothing was to be written
  kRefused,      // any other code: asking again says the same
};

struct ServerError {
  int code = 0;
  std::string words;  // one line, at most kWordsBytesMax
};
inline constexpr std::size_t kWordsBytesMax = 2000;

// The first that stands anywhere in the text.
std::optional<ServerError> find_server_error(std::string_view text);

// `writes`: the statement changes something. kNone for code 0.
Refusal refusal_of(int code, bool writes);
// Whether somebody else may do at once what this server can't: it is behind, read only, gone.
bool others_may(int code);

}  // namespace pennyweight::clickhouse
