// ApprovalBook: requests for approvals, what was decided about them, and what was run with them.
//
// A file beside the ledger, one event a line, which is only ever added to. Several processes may
// use one book: each change takes a lock of the file, so a token that is good for one use is used
// once, whoever asks. The token of an approval is a keyed digest of its request: it can't be made
// up, and it lies nowhere.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/files/record_file.h"
#include "core/instant.h"
#include "insight/guardrails/approval.h"

namespace pennyweight {

inline constexpr std::size_t kPendingApprovalsMax = 10'000;
inline constexpr std::size_t kPendingPerPersonMax = 100;

// Any thread may use it.
class ApprovalBook {
 public:
  // The files need not exist. `key_path`: of the key of the tokens, made where there is none.
  ApprovalBook(std::string path, std::string key_path, guardrails::ApprovalTerms terms);

  const guardrails::ApprovalTerms& terms() const { return terms_; }

  // In the order of the requests.
  Result<std::vector<guardrails::Approval>> approvals();
  // kNotFound where there is none.
  Result<guardrails::Approval> find(std::string_view id);
  // Of an approval, whatever its state: "ap-0123456789abcdef.<64 digits>".
  Result<std::string> token(const guardrails::Approval& approval);

  // Records a change elsewhere before it is made: an Error, and nothing is changed. `facts` is
  // JSON.
  using Recorder = std::function<Result<void>(std::string_view action, const std::string& subject,
                                              const std::string& facts)>;

  // Files a request, and returns it with its id. A pending or approved one of the same person for
  // the same is returned instead.
  Result<guardrails::Approval> request(guardrails::ApprovalRequest wanted, Instant now,
                                       const Recorder& record);
  Result<guardrails::Approval> decide(std::string_view id, const guardrails::DecisionWish& wish,
                                      Instant now, const Recorder& record);

  // What decides on a request in the name of one approver, until then and once: whoever has it may.
  // Bound to the whole request, it can't be made up, and it lies nowhere.
  Result<std::string> link(const guardrails::Approval& approval, const std::string& approver,
                           Instant until);
  struct LinkedRequest {
    guardrails::Approval approval;
    std::string approver;
    Instant until;
  };
  // What a link is of, whatever has become of the request. An Error for one that is not ours, or
  // whose time is over.
  Result<LinkedRequest> open_link(std::string_view link, Instant now);

  // The approval of a token that covers the claim now. An Error says why there is none.
  Result<guardrails::Approval> check(std::string_view token, const guardrails::ApprovalClaim& claim,
                                     Instant now);
  // The same, and records that it was used.
  Result<guardrails::Approval> use(std::string_view token, const guardrails::ApprovalClaim& claim,
                                   const std::string& by, Instant now, const Recorder& record);

 private:
  // Callers of these hold mutex_.
  Result<void> read();
  Result<void> take(std::string now);
  Result<void> apply(std::string_view line);
  Result<void> append(const std::string& line);
  Result<guardrails::Approval*> at(std::string_view id);
  Result<std::string> key(std::string_view purpose);
  Result<std::string> make_link(const guardrails::ApprovalRequest& request,
                                std::string_view approver, std::int64_t until);
  Result<std::string> make_token(const guardrails::ApprovalRequest& request);
  Result<guardrails::Approval*> covered(std::string_view token,
                                        const guardrails::ApprovalClaim& claim, Instant now);

  const std::string path_;
  const std::string key_path_;
  const guardrails::ApprovalTerms terms_;
  std::mutex mutex_;  // guards the following
  // Of the file as it was last read: the lines, and what may be left of one that a crash has torn.
  std::string text_;
  std::string torn_;
  std::optional<RecordFileState> state_;
  bool is_read_ = false;
  std::map<std::string, std::string, std::less<>> keys_;  // by their purposes
  std::vector<guardrails::Approval> all_;
  std::map<std::string, std::size_t, std::less<>> by_id_;
};

}  // namespace pennyweight
