// Tells systemd how the service does: that it serves, that it lives, that it stops.
//
// A datagram to the socket that $NOTIFY_SOCKET names; without one nothing is told.
// https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html
#pragma once

#include <string_view>

namespace pennyweight {

// "READY=1", "WATCHDOG=1", "STOPPING=1". Never blocks; a manager that is gone is ignored. From any
// thread.
void notify_service_manager(std::string_view state);

}  // namespace pennyweight
