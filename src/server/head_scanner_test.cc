#include "server/head_scanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "server/message_parser.h"

namespace pennyweight::server {
namespace {

constexpr HeadLimits kLimits{.bytes_max = 400, .target_bytes_max = 100, .fields_max = 5};

// What is wrong with a head that arrives in pieces of this size; 0: nothing.
int status_of(std::string_view head, std::size_t piece, Framing* framing = nullptr) {
  HeadScanner scanner(kLimits);
  for (std::size_t at = 0; at < head.size();) {
    at = std::min(at + piece, head.size());
    if (const auto problem = scanner.scan(head.substr(0, at))) return problem->status;
    if (scanner.head_bytes()) break;
  }
  if (!scanner.head_bytes()) return -1;
  const std::string_view whole = head.substr(0, *scanner.head_bytes());
  Framing own;
  if (const auto problem = check_head(whole, framing != nullptr ? *framing : own)) {
    return problem->status;
  }
  MessageParser parser;
  RequestHead parsed;
  return parser.parse_head(whole, parsed) ? 0 : 999;
}

TEST(HeadScanner, AcceptsWhatEveryRecipientReadsAlike) {
  for (const std::string_view head : {
           "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
           "GET / HTTP/1.0\r\n\r\n",
           "GET /a?b=c%20d HTTP/1.1\r\nHost: [::1]:9595\r\nA:b\r\nC:\t d \r\n\r\n",
           "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 007\r\n\r\n",
           "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: x\r\nA: \xC3\xA9\r\n\r\nGET /nex",
           "M-SEARCH / HTTP/1.1\r\nHost:\r\n\r\n",
       }) {
    for (const std::size_t piece : {1u, 2u, 7u, 1000u}) {
      EXPECT_EQ(status_of(head, piece), 0) << head << " in pieces of " << piece;
    }
  }
}

TEST(HeadScanner, RefusesWhatRecipientsReadDifferently) {
  using std::string_view_literals::operator""sv;
  const std::vector<std::pair<std::string_view, int>> table = {
      // Lines and bytes.
      {"GET / HTTP/1.1\nHost: x\n\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\n\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\rA: b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\r\nHost: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n"sv, 400},
      {"GET / HTTP/1.1\r\nHost: x\r\nA: b\x7f\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\nA: b\x0b\r\n\r\n", 400},
      {"\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n Host: x\r\n\r\n", 400},
      // The request line.
      {"GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET / HTTP/1.1 \r\nHost: x\r\n\r\n", 400},
      {" GET / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET / x HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET /\xC3\xA9 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET /\r\n\r\n", 400},
      {"GET / http/1.1\r\nHost: x\r\n\r\n", 400},
      {"GET / HTTP/1.10\r\nHost: x\r\n\r\n", 505},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"PRI / HTTP/1.0\r\n\r\n", 505},
      {"PRI * HTTP/1.1\r\nHost: x\r\n\r\n", 505},
      {"G@T / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      // Names and values.
      {"GET / HTTP/1.1\r\nHost: x\r\nContent-Length : 5\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\nA\xC3\xA9: b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\nA\r\n\r\n", 400},
      // For whom it is.
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x, y\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
      // Where it ends.
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5, 5\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x2\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5 5\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
       400},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n",
       400},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \"chunked\"\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
       "chunked\r\n\r\n",
       400},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\n\r\n", 417},
      // Not whole yet.
      {"GET / HTTP/1.1\r\nHost: x\r\n\r", -1},
  };
  for (const auto& [head, status] : table) {
    for (const std::size_t piece : {1u, 3u, 1000u}) {
      EXPECT_EQ(status_of(head, piece), status) << head << " in pieces of " << piece;
    }
  }
}

TEST(HeadScanner, BoundsTheHeadWhileItArrives) {
  const std::string begin = "GET / HTTP/1.1\r\nHost: x\r\n";
  EXPECT_EQ(status_of(begin + "A: " + std::string(371, 'a') + "\r\n\r\n", 50), 431);
  EXPECT_EQ(status_of(begin + "A: " + std::string(365, 'a') + "\r\n\r\n", 50), 0);
  EXPECT_EQ(status_of(begin + "A: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\nE: 5\r\n\r\n", 5), 431);
  EXPECT_EQ(status_of(begin + "A: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\n\r\n", 5), 0);
  // Without an end in sight.
  EXPECT_EQ(status_of(std::string(1000, 'G'), 9), 414);
  EXPECT_EQ(status_of(begin + std::string(1000, 'G'), 9), 431);
}

TEST(HeadScanner, SaysHowTheBodyIsDelimited) {
  Framing framing;
  ASSERT_EQ(status_of("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n"
                      "Expect: 100-Continue\r\n\r\n",
                      100, &framing),
            0);
  EXPECT_EQ(framing, (Framing{.content_length = 12, .expects_continue = true}));
  EXPECT_TRUE(framing.has_body());
  ASSERT_EQ(
      status_of("PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", 100, &framing),
      0);
  EXPECT_EQ(framing, (Framing{.is_chunked = true}));
  ASSERT_EQ(status_of("PUT / HTTP/1.1\r\nHost: x\r\n\r\n", 100, &framing), 0);
  EXPECT_FALSE(framing.has_body());
}

// ---- Bodies

struct ReadBody {
  MessageParser::Progress progress;
  std::string body;
  std::string rest;
};

ReadBody read_chunked(std::string_view sent, std::size_t piece, std::uint64_t bytes_max = 1000) {
  MessageParser parser;
  RequestHead head;
  EXPECT_TRUE(
      parser.parse_head("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", head));
  parser.limit_body(bytes_max);
  ReadBody read{.progress = MessageParser::Progress::kNeedsMore, .body = {}, .rest = {}};
  for (std::size_t at = 0;
       at < sent.size() && read.progress == MessageParser::Progress::kNeedsMore;) {
    read.rest += sent.substr(at, piece);
    at += piece;
    read.progress = parser.parse_body(read.rest);
    if (at < sent.size() && read.progress == MessageParser::Progress::kWhole) {
      read.rest += sent.substr(at);
    }
  }
  read.body = parser.take_body();
  return read;
}

TEST(MessageParser, EndsTheConnectionIfAnyFieldSaysSo) {
  const auto keeps_alive = [](std::string_view fields) {
    MessageParser parser;
    RequestHead head;
    EXPECT_TRUE(
        parser.parse_head("GET / HTTP/1.1\r\nHost: x\r\n" + std::string(fields) + "\r\n", head));
    return head.keeps_alive;
  };
  EXPECT_TRUE(keeps_alive(""));
  EXPECT_TRUE(keeps_alive("Connection: keep-alive\r\nConnection: closed, x\r\n"));
  EXPECT_FALSE(keeps_alive("Connection: close\r\n"));
  EXPECT_FALSE(keeps_alive("Connection: keep-alive\r\nA: b\r\nconnection: x ,Close\r\n"));
}

TEST(MessageParser, ReadsChunksInAnyPieces) {
  const std::string_view sent =
      "3;a=b\r\nabc\r\n00A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\nGET /next";
  for (std::size_t piece = 1; piece < sent.size(); ++piece) {
    const ReadBody read = read_chunked(sent, piece);
    EXPECT_EQ(read.progress, MessageParser::Progress::kWhole) << piece;
    EXPECT_EQ(read.body, "abc0123456789") << piece;
    EXPECT_EQ(read.rest, "GET /next") << piece;
  }
}

TEST(MessageParser, RefusesChunksThatRecipientsReadDifferently) {
  for (const std::string_view sent :
       {"0x3\r\nabc\r\n0\r\n\r\n", "3 \r\nabc\r\n0\r\n\r\n", "+3\r\nabc\r\n0\r\n\r\n",
        "3\nabc\r\n0\r\n\r\n", "3\r\nabcd\r\n0\r\n\r\n", "3\r\nabc0\r\n\r\n",
        "g\r\nabc\r\n0\r\n\r\n", "\r\nabc\r\n0\r\n\r\n", "-1\r\nabc\r\n0\r\n\r\n",
        "10000000000000003\r\nabc\r\n0\r\n\r\n", "3;\x01=b\r\nabc\r\n0\r\n\r\n",
        "3\r\nabc\r\n0\r\nA\r\n\r\n", "3\rabc\r\n0\r\n\r\n", "3\r\nabc\n0\r\n\r\n"}) {
    for (const std::size_t piece : {1u, 5u, 1000u}) {
      EXPECT_EQ(read_chunked(sent, piece).progress, MessageParser::Progress::kMalformed)
          << sent << " in pieces of " << piece;
    }
  }
}

TEST(MessageParser, BoundsBodiesAndTheLinesOfTheirChunks) {
  EXPECT_EQ(read_chunked("ff\r\n" + std::string(255, 'a') + "\r\n0\r\n\r\n", 16, 254).progress,
            MessageParser::Progress::kTooLarge);
  EXPECT_EQ(read_chunked("3;" + std::string(5000, 'a'), 100).progress,
            MessageParser::Progress::kMalformed);
  EXPECT_EQ(read_chunked("0\r\nA: " + std::string(5000, 'a'), 100).progress,
            MessageParser::Progress::kMalformed);
  EXPECT_EQ(read_chunked(std::string(5000, '0'), 100).progress,
            MessageParser::Progress::kMalformed);
}

}  // namespace
}  // namespace pennyweight::server
