#include "app/daemon/approval_desk.h"

#include <utility>

#include "core/try.h"

namespace pennyweight {

BookedApprovals::BookedApprovals(ApprovalBook& book, Clock& clock, AppendEntry append)
    : book_(book), clock_(clock), append_(std::move(append)) {}

Result<std::string> BookedApprovals::redeem(std::string_view token,
                                            const guardrails::ApprovalClaim& claim,
                                            const std::string& by, bool only_looks) {
  const auto approval = TRY(only_looks ? book_.check(token, claim, clock_.now())
                                       : book_.use(token, claim, by, clock_.now(), recorder(by)));
  return approval.request.id;
}

Result<std::string> BookedApprovals::file(guardrails::ApprovalRequest request) {
  const std::string by = request.by;
  const auto filed = TRY(book_.request(std::move(request), clock_.now(), recorder(by)));
  return filed.request.id;
}

ApprovalBook::Recorder BookedApprovals::recorder(const std::string& by) const {
  return [this, by](std::string_view action, const std::string& subject, const std::string& facts) {
    return append_(
        {.actor = by, .action = std::string(action), .subject = subject, .after = facts});
  };
}

}  // namespace pennyweight
