#include "server/message_parser.h"

// Asio uses std::exchange without including it.
#include <utility>
//
#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <limits>

#include "core/ascii.h"

namespace pennyweight::server {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

using BeastError = boost::beast::error_code;

std::string to_std(boost::beast::string_view text) { return {text.data(), text.size()}; }

// Whether a list of options (Connection) names `close`. Beast looks at the first such field alone.
bool names_close(std::string_view options) {
  while (!options.empty()) {
    const std::size_t comma = std::min(options.find(','), options.size());
    if (ascii::equal_ignoring_case(ascii::trim(options.substr(0, comma)), "close")) return true;
    options.remove_prefix(std::min(comma + 1, options.size()));
  }
  return false;
}

// A body as a string that grows with what arrives, up to a limit.
struct BoundedBody {
  struct value_type {
    std::string text = {};
    std::uint64_t bytes_max = 0;
  };
  class reader {
   public:
    template <bool is_request, class Fields>
    reader(http::header<is_request, Fields>&, value_type& body) : body_(body) {}
    void init(const boost::optional<std::uint64_t>& length, BeastError& error) {
      announced_ = length.value_or(0);
      error = {};
    }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, BeastError& error) {
      error = {};
      const std::size_t added = asio::buffer_size(buffers);
      if (added > body_.bytes_max || body_.text.size() > body_.bytes_max - added) {
        error = http::error::body_limit;
        return 0;
      }
      // A string that grows is copied each time. A length that is only announced takes no memory;
      // once an eighth has come, it takes at most eight times what has.
      const std::uint64_t whole = std::min(announced_, body_.bytes_max);
      const std::uint64_t size = body_.text.size() + added;
      if (size < whole && size >= whole / 8 && body_.text.capacity() < whole) {
        body_.text.reserve(whole);
      }
      for (const asio::const_buffer piece : boost::beast::buffers_range_ref(buffers)) {
        body_.text.append(static_cast<const char*>(piece.data()), piece.size());
      }
      return added;
    }
    void finish(BeastError& error) { error = {}; }

   private:
    value_type& body_;
    std::uint64_t announced_ = 0;
  };
};

}  // namespace

struct MessageParser::State {
  http::request_parser<BoundedBody> parser;
};

std::string_view status_text(int status) {
  const auto text = http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status)));
  return {text.data(), text.size()};
}

std::string_view RequestHead::field(std::string_view name) const {
  const auto found = std::ranges::find(fields, name, [](const auto& field) { return field.first; });
  return found == fields.end() ? std::string_view() : std::string_view(found->second);
}

MessageParser::MessageParser() : state_(std::make_unique<State>()) {}
MessageParser::~MessageParser() = default;

bool MessageParser::parse_head(std::string_view head, RequestHead& parsed) {
  auto& parser = state_->parser;
  parser.header_limit(std::numeric_limits<std::uint32_t>::max());  // the scanner has bounded it
  // BoundedBody bounds the body. Not boost::none, below which Beast 1.74 finds no length to be.
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());
  BeastError error;
  const std::size_t used = parser.put(asio::buffer(head.data(), head.size()), error);
  if (error || used != head.size() || !parser.is_header_done()) return false;
  const auto& message = parser.get();
  parsed.method = to_std(message.method_string());
  parsed.target = to_std(message.target());
  parsed.is_http10 = message.version() == 10;
  parsed.keeps_alive = message.keep_alive();
  parsed.fields.clear();
  for (const auto& field : message) {
    parsed.fields.emplace_back(ascii::lower_case(to_std(field.name_string())),
                               to_std(field.value()));
    const auto& [name, value] = parsed.fields.back();
    if (name == "connection" && names_close(value)) parsed.keeps_alive = false;
  }
  return true;
}

void MessageParser::limit_body(std::uint64_t bytes_max) {
  state_->parser.get().body().bytes_max = bytes_max;
  state_->parser.eager(true);
}

MessageParser::Progress MessageParser::parse_body(std::string& received) {
  auto& parser = state_->parser;
  std::size_t used = 0;
  Progress progress = Progress::kNeedsMore;
  // Beast 1.74 takes the beginning of the last chunk for granted once it has seen some of it, so it
  // gets no less than the shortest last chunk: "0", CR LF, CR LF. A body that is not at its end has
  // as much to come.
  const std::size_t bytes_min = parser.chunked() ? 5 : 1;
  while (!parser.is_done() && received.size() - used >= bytes_min) {
    BeastError error;
    const std::size_t more =
        parser.put(asio::buffer(received.data() + used, received.size() - used), error);
    used += more;
    if (error == http::error::need_more || (!error && more == 0)) {
      // What is left is the beginning of a line before a chunk.
      if (received.size() - used > kChunkLineBytesMax) progress = Progress::kMalformed;
      break;
    }
    if (error) {
      progress = error == http::error::body_limit ? Progress::kTooLarge : Progress::kMalformed;
      break;
    }
  }
  if (parser.is_done()) progress = Progress::kWhole;
  received.erase(0, used);
  return progress;
}

std::size_t MessageParser::body_bytes() const { return state_->parser.get().body().text.size(); }

std::string MessageParser::take_body() { return std::move(state_->parser.get().body().text); }

}  // namespace pennyweight::server
