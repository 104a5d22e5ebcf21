// The permissions of each role, as defined by the server.
import { useQuery } from "../../api/hooks";
import type { List, RoleName } from "../../api/types";
import { Card } from "../../components/card";
import { Icon } from "../../components/icons";
import { Loaded } from "../../components/states";
import { words } from "../../util/text";
import { ROLE_HINTS } from "./user_dialog";

interface Role {
  role: RoleName;
  permissions: string[];
}

export function RolesTab() {
  const roles = useQuery<List<Role>>("/roles");
  return (
    <Loaded query={roles}>
      {({ data }) => {
        const permissions = [...new Set(data.flatMap((role) => role.permissions))].sort((a, b) => {
          const count = (name: string) => data.filter((role) => role.permissions.includes(name)).length;
          return count(b) - count(a) || a.localeCompare(b);
        });
        return (
          <div class="stack">
            <Card title="Permissions by role" flush>
              <div class="table-scroll" role="region" tabIndex={0} aria-label="Permissions by role">
                <table class="table table-dense role-table">
                  <caption class="sr-only">Permissions of each role</caption>
                  <thead>
                    <tr>
                      <th scope="col">Permission</th>
                      {data.map(({ role }) => <th key={role} scope="col" class="c">{words(role)}</th>)}
                    </tr>
                  </thead>
                  <tbody>
                    {permissions.map((permission) => (
                      <tr key={permission}>
                        <th scope="row">{words(permission)}</th>
                        {data.map(({ role, permissions: has }) => (
                          <td key={role} class="c">
                            {has.includes(permission)
                              ? <span class="yes"><Icon name="check" /><span class="sr-only">yes</span></span>
                              : <span class="nothing" aria-label="no">·</span>}
                          </td>
                        ))}
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            </Card>
            <Card title="In words">
              <dl class="facts">
                {data.map(({ role }) => <div key={role}><dt>{words(role)}</dt><dd>{ROLE_HINTS[role]}</dd></div>)}
              </dl>
            </Card>
          </div>
        );
      }}
    </Loaded>
  );
}
