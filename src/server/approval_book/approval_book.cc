#include "server/approval_book/approval_book.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>
#include <utility>

#include "core/base_encoding.h"
#include "core/crypto/secret.h"
#include "core/crypto/sha256.h"
#include "core/files/disk.h"
#include "core/files/file_lock.h"
#include "core/json_text.h"
#include "core/plain_text.h"
#include "core/try.h"
#include "server/access/secrets.h"
#include "server/approval_book/approval_json.h"

namespace pennyweight {
namespace {

using guardrails::Approval;
using guardrails::ApprovalClaim;
using guardrails::ApprovalRequest;
using guardrails::ApprovalState;

constexpr std::uint64_t kApprovalBookBytesMax = 256u << 20;
constexpr std::size_t kIdBytes = 8;
constexpr std::size_t kTokenBytesMax = 200;
constexpr std::size_t kReasonBytesMax = 2000;
constexpr std::size_t kRequestBytesMax = 16u << 10;  // with its labels
constexpr std::size_t kLinkBytesMax = 1000;
constexpr std::string_view kTokenPurpose = "tokens of approvals";
constexpr std::string_view kLinkPurpose = "links of approvals";

std::string subject_of(const ApprovalRequest& request) {
  return fmt::format("approval {} of {}", request.id, request.workload);
}

}  // namespace

ApprovalBook::ApprovalBook(std::string path, std::string key_path, guardrails::ApprovalTerms terms)
    : path_(std::move(path)), key_path_(std::move(key_path)), terms_(std::move(terms)) {}

Result<void> ApprovalBook::read() {
  // Taken before the text is, so that a change meanwhile shows the next time.
  const auto state = TRY(record_file_state(path_));
  if (is_read_ && state == state_) return {};
  std::string now = TRY(read_record_file(path_, kApprovalBookBytesMax));
  const bool goes_on = is_read_ && is_whole_records(text_) && now.starts_with(text_);
  is_read_ = false;
  if (!goes_on) {
    text_.clear();
    all_.clear();
    by_id_.clear();
  }
  TRY(take(std::move(now)));
  state_ = state;
  is_read_ = true;
  return {};
}

// Lines are only ever added, so that only those after text_ are read.
Result<void> ApprovalBook::take(std::string now) {
  const std::size_t end = now.rfind('\n') + 1;  // npos + 1 is 0
  TRY(read_records(path_, std::string_view(now).substr(0, end), text_.size(), kMendRecords,
                   [&](std::string_view line) { return apply(line); }));
  // An editor may have left the last line without its end. What a crash has left of one was not
  // said to be there, to anybody.
  const std::string_view rest = std::string_view(now).substr(end);
  torn_ = !rest.empty() && !apply(rest) ? rest : std::string_view();
  now.resize(now.size() - torn_.size());
  text_ = std::move(now);
  return {};
}

Result<void> ApprovalBook::apply(std::string_view line) { return apply_event(line, all_, by_id_); }

Result<void> ApprovalBook::append(const std::string& line) {
  if (text_.size() + line.size() >= kApprovalBookBytesMax) {
    return fail(ErrorCode::kLimit, path_ + " is full");
  }
  if (!text_.empty() && is_whole_records(text_) && torn_.empty()) {
    TRY(append_records(path_, text_.size(), line));
  } else {
    if (!torn_.empty()) TRY(keep_torn_record(path_, torn_));
    TRY(replace_file(path_, with_records(text_, line)));
  }
  is_read_ = false;  // until it is sure that the file is what is known here
  if (!is_whole_records(text_)) text_ += '\n';
  text_ += line;
  torn_.clear();
  TRY(apply(std::string_view(line).substr(0, line.size() - 1)));
  state_ = TRY(record_file_state(path_));
  is_read_ = state_ && state_->bytes == text_.size();
  return {};
}

Result<Approval*> ApprovalBook::at(std::string_view id) {
  const auto known = by_id_.find(id);
  if (known != by_id_.end()) return &all_[known->second];
  return fail(ErrorCode::kNotFound,
              fmt::format("there is no approval '{}'", printable_text(id, 100)));
}

Result<std::string> ApprovalBook::key(std::string_view purpose) {
  const auto known = keys_.find(purpose);
  if (known != keys_.end()) return known->second;
  const auto sealing = TRY(access::SealingKey::open(key_path_));
  return keys_.emplace(purpose, sealing.derive(purpose)).first->second;
}

// The whole request is in it, so that no line of the book can be put in the place of another.
Result<std::string> ApprovalBook::make_token(const ApprovalRequest& request) {
  const std::string key = TRY(this->key(kTokenPurpose));
  return fmt::format("{}.{}", request.id, to_hex(hmac_sha256(key, request_members(request))));
}

// "ap-0123456789abcdef.<approver, base64url>.<seconds>.<64 digits>"
Result<std::string> ApprovalBook::make_link(const ApprovalRequest& request,
                                            std::string_view approver, std::int64_t until) {
  const std::string key = TRY(this->key(kLinkPurpose));
  const std::string signed_text =
      fmt::format("{} {} {}", json_string(approver), until, request_members(request));
  return fmt::format("{}.{}.{}.{}", request.id, to_base64url(approver), until,
                     to_hex(hmac_sha256(key, signed_text)));
}

Result<std::string> ApprovalBook::link(const Approval& approval, const std::string& approver,
                                       Instant until) {
  const std::lock_guard lock(mutex_);
  return make_link(approval.request, approver, unix_ms(until) / 1000);
}

Result<ApprovalBook::LinkedRequest> ApprovalBook::open_link(std::string_view link, Instant now) {
  const auto invalid = [] {
    return fail(ErrorCode::kNotFound,
                "this link is not one of ours; use the one that you were sent");
  };
  if (link.size() > kLinkBytesMax) return invalid();
  std::vector<std::string_view> parts;
  for (std::string_view rest = link; parts.size() < 4;) {
    const std::size_t dot = rest.find('.');
    parts.push_back(rest.substr(0, dot));
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  if (parts.size() != 4) return invalid();
  const auto approver = from_base64url(parts[1]);
  std::int64_t until = 0;
  const auto read = std::from_chars(parts[2].data(), parts[2].data() + parts[2].size(), until);
  const bool is_number = read.ec == std::errc() && read.ptr == parts[2].data() + parts[2].size();
  if (!approver || !is_number) return invalid();
  const std::lock_guard lock(mutex_);
  TRY(this->read());
  const auto known = at(parts[0]);
  if (!known) return invalid();
  const std::string right = TRY(make_link((*known)->request, *approver, until));
  if (!is_same_secret(link, right)) return invalid();
  const Instant end = from_unix_seconds(until);
  if (now >= end) {
    return fail(ErrorCode::kConflict,
                fmt::format("this link ended at {}; sign in to decide, or wait for the next one",
                            pennyweight::to_text(end)));
  }
  return LinkedRequest{.approval = **known, .approver = *approver, .until = end};
}

Result<std::vector<Approval>> ApprovalBook::approvals() {
  const std::lock_guard lock(mutex_);
  TRY(read());
  return all_;
}

Result<Approval> ApprovalBook::find(std::string_view id) {
  const std::lock_guard lock(mutex_);
  TRY(read());
  const Approval* known = TRY(at(id));
  return *known;
}

Result<std::string> ApprovalBook::token(const Approval& approval) {
  const std::lock_guard lock(mutex_);
  return make_token(approval.request);
}

Result<Approval> ApprovalBook::request(ApprovalRequest wanted, Instant now,
                                       const Recorder& record) {
  if (wanted.reason.size() > kReasonBytesMax ||
      printable_text(wanted.reason, kReasonBytesMax) != wanted.reason) {
    return fail(ErrorCode::kBadValue,
                fmt::format("the reason is plain text of at most {} bytes", kReasonBytesMax));
  }
  if (request_members(wanted).size() > kRequestBytesMax) {
    return fail(ErrorCode::kLimit,
                fmt::format("what is asked for, with its labels, has more than {} bytes",
                            kRequestBytesMax));
  }
  const std::lock_guard lock(mutex_);
  const FileLock others = TRY(FileLock::beside(path_));
  TRY(read());
  std::size_t pending = 0;  // that came the same way: the webhook can't keep others from asking
  std::size_t own = 0;
  for (const Approval& known : all_) {
    const ApprovalState state = state_of(known, terms_, now);
    if (state == ApprovalState::kPending) {
      pending += known.request.source == wanted.source ? 1 : 0;
      own += known.request.by == wanted.by ? 1 : 0;
    }
    const bool is_open = state == ApprovalState::kPending || state == ApprovalState::kApproved;
    const bool is_same = known.request.content == wanted.content && known.request.by == wanted.by &&
                         known.request.rules == wanted.rules && known.request.cost == wanted.cost;
    if (is_open && is_same) return known;
  }
  if (pending >= kPendingApprovalsMax || own >= kPendingPerPersonMax) {
    return fail(ErrorCode::kLimit,
                fmt::format("{} requests{} wait for a decision already; decide on some of them",
                            own >= kPendingPerPersonMax ? own : pending,
                            own >= kPendingPerPersonMax ? " of " + wanted.by : std::string()));
  }
  const std::string random = TRY(random_bytes(kIdBytes));
  wanted.id = "ap-" + to_hex(random);
  wanted.at = now;
  TRY(record("approval.request", subject_of(wanted), "{" + request_members(wanted) + "}"));
  TRY(append(request_event(wanted)));
  const Approval* made = TRY(at(wanted.id));
  return *made;
}

Result<Approval> ApprovalBook::decide(std::string_view id, const guardrails::DecisionWish& wish,
                                      Instant now, const Recorder& record) {
  const std::lock_guard lock(mutex_);
  const FileLock others = TRY(FileLock::beside(path_));
  TRY(read());
  const Approval* known = TRY(at(id));
  const auto decision = TRY(guardrails::decide(*known, wish, terms_, now));
  std::string line = decision_event(known->request.id, decision);
  std::string facts = line;
  facts.pop_back();
  TRY(record(decision.approves ? "approval.approve" : "approval.refuse", subject_of(known->request),
             facts));
  TRY(append(line));
  const Approval* decided = TRY(at(id));
  return *decided;
}

Result<Approval*> ApprovalBook::covered(std::string_view token, const ApprovalClaim& claim,
                                        Instant now) {
  if (token.size() > kTokenBytesMax) return fail(ErrorCode::kBadValue, "this is no token");
  Approval* known = nullptr;
  if (auto found = at(token.substr(0, token.find('.')))) known = *found;
  if (known == nullptr) {
    return fail(ErrorCode::kBadValue, "the token is of no approval that is known here");
  }
  const std::string right = TRY(make_token(known->request));
  if (!is_same_secret(token, right)) {
    return fail(ErrorCode::kBadValue,
                fmt::format("the token of {} is not the right one", known->request.id));
  }
  TRY(check_claim(*known, claim, terms_, now));
  return known;
}

Result<Approval> ApprovalBook::check(std::string_view token, const ApprovalClaim& claim,
                                     Instant now) {
  const std::lock_guard lock(mutex_);
  TRY(read());
  const Approval* known = TRY(covered(token, claim, now));
  return *known;
}

Result<Approval> ApprovalBook::use(std::string_view token, const ApprovalClaim& claim,
                                   const std::string& by, Instant now, const Recorder& record) {
  const std::lock_guard lock(mutex_);
  const FileLock others = TRY(FileLock::beside(path_));
  TRY(read());
  const Approval* known = TRY(covered(token, claim, now));
  const guardrails::ApprovalUse use{.at = now, .by = by};
  const std::string id = known->request.id;
  const std::string line = use_event(id, use);
  std::string facts = line;
  facts.pop_back();
  TRY(record("approval.use", subject_of(known->request), facts));
  TRY(append(line));
  const Approval* used = TRY(at(id));
  return *used;
}

}  // namespace pennyweight
