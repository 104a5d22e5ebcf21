// The tables of a what-if, apart: what_if_tables() puts them together.
#pragma once

#include <string>
#include <vector>

#include "insight/queries/what_if_query.h"

namespace pennyweight {

// How well the replay of what really ran gives what was, before anything is changed.
Table what_if_calibration_table(const WhatIfQuery& query, const what_if::WhatIf& result,
                                const std::string& title);
Table what_if_job_table(const WhatIfQuery& query, const what_if::WhatIf& result,
                        const std::string& title);
Table what_if_team_table(const WhatIfQuery& query, const what_if::WhatIf& result,
                         const std::string& title);
// One table a currency. `policy`: the name of the policy that the scenario is divided by; empty:
// the same as what was.
std::vector<Table> what_if_cost_tables(const WhatIfAmounts& amounts, const std::string& by,
                                       const std::string& policy, const std::string& title);
// The same money by how it was bought.
std::vector<Table> what_if_tier_cost_tables(const WhatIfAmounts& amounts, const std::string& title);

// What the tables for people round: the figures of all jobs, and then those of each team, in units
// in which nothing is lost.
Table what_if_exact_table(const WhatIfQuery& query, const what_if::WhatIf& result,
                          const std::string& title);
// GPUs held and jobs waiting, at moments of the period.
Table what_if_moment_table(const WhatIfMonth& month, const what_if::WhatIf& result,
                           const std::string& title);
// How long the shortest-waiting N percent waited at most.
Table what_if_wait_table(const what_if::WhatIf& result, const std::string& title);

// How far the figures of the scenario depend on seed and demand.
Table what_if_range_table(const WhatIfQuery& query, const what_if::WhatIf& result,
                          const std::string& title);
// What searches tried, and what they found.
Table what_if_fleet_table(const WhatIfQuery& query, const std::vector<what_if::FleetPoint>& fleets,
                          const std::string& title);
Table what_if_tier_table(const WhatIfQuery& query, const what_if::TierAnswer& answer,
                         const std::string& title);
Table what_if_mig_table(const WhatIfQuery& query, const what_if::MigAnswer& answer,
                        const std::string& title);

// What was taken from the catalogues. REQUIRES for each: there is some.
Table what_if_price_table(const WhatIfQuery& query, const std::vector<what_if::ListedPrice>& prices,
                          const std::string& title);
Table what_if_speed_table(const WhatIfQuery& query, const std::vector<what_if::SpeedUse>& speeds,
                          const std::string& title);
Table what_if_commitment_table(const std::vector<what_if::BoughtCommitment>& commitments,
                               const std::string& title);

}  // namespace pennyweight
