// BookedApprovals: admission's way to the book of approvals, with an audit entry for each change.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/error.h"
#include "insight/guardrails/admission.h"
#include "server/approval_book/approval_book.h"
#include "server/audit_log/audit_log.h"

namespace pennyweight {

// Any thread may use it.
class BookedApprovals : public guardrails::ApprovalDesk {
 public:
  using AppendEntry = std::function<Result<void>(audit_log::Entry)>;
  // The book and the clock outlive it.
  BookedApprovals(ApprovalBook& book, Clock& clock, AppendEntry append);

  Result<std::string> redeem(std::string_view token, const guardrails::ApprovalClaim& claim,
                             const std::string& by, bool only_looks) override;
  Result<std::string> file(guardrails::ApprovalRequest request) override;

 private:
  ApprovalBook::Recorder recorder(const std::string& by) const;

  ApprovalBook& book_;
  Clock& clock_;
  AppendEntry append_;
};

}  // namespace pennyweight
