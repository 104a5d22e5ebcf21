// The words in which chats are told of an alert, as somebody wants them:
// "<!here> *{status}* {summary} https://runbooks.example.com/{rule}".
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/error.h"
#include "insight/alerts/alert.h"

namespace pennyweight {

// Error of kBadValue: it names a placeholder that there is not, a brace is not closed, it is longer
// than 2,000 bytes, or it does not have {summary}, without which nobody learns what is wrong.
Result<void> check_message_template(std::string_view text);

// `escape` is applied to what stands in the place of placeholders, and not to what is between them.
// "{{" and "}}" are braces. REQUIRES: check_message_template() has passed.
std::string fill_message_template(std::string_view text, const AlertNotification& notification,
                                  const std::function<std::string(std::string_view)>& escape);

}  // namespace pennyweight
