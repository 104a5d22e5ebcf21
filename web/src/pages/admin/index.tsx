// Admin: users, tokens, roles, and the audit log.
import { setQuery, useRoute } from "../../app/router";
import { useSession } from "../../app/session";
import { PageHead } from "../../components/card";
import { Tabs } from "../../components/controls";
import { AuditTab } from "./audit";
import { RolesTab } from "./roles";
import { TokensTab } from "./tokens";
import { UsersTab } from "./users";

export default function AdminPage() {
  const { may } = useSession();
  const { query } = useRoute();
  const tabs = [
    ...(may("manage_users") ? [{ key: "users", title: "Users" }, { key: "tokens", title: "Tokens" }, { key: "roles", title: "Roles" }] : []),
    ...(may("read_audit") ? [{ key: "audit", title: "Audit log" }] : []),
  ];
  const asked = query.get("tab");
  const tab = tabs.find((one) => one.key === asked)?.key ?? tabs[0]?.key ?? "";
  return (
    <div class="stack">
      <PageHead title="Admin" lead="Users and tokens, what they may see and do, and what they did." />
      <Tabs label="Administration" tabs={tabs} chosen={tab} onChoose={(key) => setQuery({ tab: key === tabs[0]?.key ? null : key })} />
      {tab === "users" && <UsersTab />}
      {tab === "tokens" && <TokensTab />}
      {tab === "roles" && <RolesTab />}
      {tab === "audit" && <AuditTab />}
    </div>
  );
}
