// The mail server of the configuration, as it is used to send invoices and alerts.
#pragma once

#include "config/mail_config.h"
#include "core/error.h"
#include "core/mail/smtp.h"

namespace pennyweight {

// With the password, read now. An Error says what the configuration lacks.
Result<mail::SmtpSettings> smtp_settings(const MailConfig& config);

}  // namespace pennyweight
