// The label that says since when a job could run.
#pragma once

#include <string_view>

namespace pennyweight {

// In ISO 8601, where it differs from the submission: the job waited for another one (--dependency)
// or asked to begin later (--begin) before that. Like kSubmitTimeLabel it is not content: a reading
// that has it and one that lacks it are one holding.
inline constexpr std::string_view kEligibleTimeLabel = "eligible_time";

}  // namespace pennyweight
