// Refusal: why ClickHouse did not do a statement, and whether sending it again may help.
//
// It decides by ClickHouse's error codes, never by its words; refusal.cc lists them with their
// names. ClickHouse says "Code: 47, e.displayText() = DB::Exception: …, e.what() = DB::Exception"
// (18.16) or "Code: 47. DB::Exception: … (version 26.5.3.1)" (today): in place of an answer, or,
// where a part of the answer was on its way already, behind that part. Source:
// dbms/src/Server/HTTPHandler.cpp, dbms/src/Common/ErrorCodes.cpp of 18.16 and their successors;
// codes keep their meaning.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pennyweight::clickhouse {

// What kind of failure it was, and so what a caller can do about it.
enum class Refusal {
  kNone,
  kUnreachable,  // nobody answered, or the answer broke off; nothing was done
  kUncertain,  // all or some of it may have been done: the answer to a statement that writes broke
               // off, or its code says that a shard was lost on the way
  kNotYet,     // it is worth asking again later, or another server: there is no quorum, a replica
               // is behind or read only, there is too much to do, or a shard was lost on the way
               // of a statement that only reads
  kRefused,    // any other code: asking again says the same
};

struct ServerError {
  int code = 0;
  std::string words;  // one line, at most kWordsBytesMax
};
inline constexpr std::size_t kWordsBytesMax = 2000;

// The first error that stands anywhere in the text.
std::optional<ServerError> find_server_error(std::string_view text);

// `writes`: the statement changes something. kNone for code 0.
Refusal refusal_of(int code, bool writes);
// Whether another server may do at once what this one can't: this one is behind, read only or gone.
bool others_may(int code);

}  // namespace pennyweight::clickhouse
