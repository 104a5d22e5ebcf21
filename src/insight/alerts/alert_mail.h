// Alerts as mail: several notifications are one message, which a person reads from the top.
#pragma once

#include <span>
#include <string>

#include "insight/alerts/alert.h"

namespace pennyweight {

// "[pennyweight] 2 alerts, 1 ended: Budget nlp: …": the gravest one speaks.
// REQUIRES: at least one notification.
std::string alert_mail_subject(std::span<const AlertNotification> notifications);

// What began, the critical ones first, then what ended, then what goes on from before. Each has its
// id, by which a message that came twice is known. `is_retry`: this may have arrived already.
std::string alert_mail_text(std::span<const AlertNotification> notifications,
                            std::span<const Alert> ongoing, bool is_retry);

}  // namespace pennyweight
