// Account: the user's own password, second factor, sessions and tokens.
import { useState } from "preact/hooks";
import { toast } from "../../app/toasts";
import { useSession } from "../../app/session";
import { Card, Facts, Grid, PageHead } from "../../components/card";
import { Badge, Button } from "../../components/controls";
import { Dialog } from "../../components/dialog";
import { words } from "../../util/text";
import { PasswordForm } from "./password";
import { SecondFactor } from "./second_factor";
import { Sessions } from "./sessions";
import { Tokens } from "./tokens";

function Password() {
  const [open, setOpen] = useState(false);
  const done = () => {
    setOpen(false);
    toast("Password changed.");
  };
  return (
    <Card title="Password">
      <p class="muted account-text">At least twelve characters. Only a hash of it is stored.</p>
      <Button onClick={() => setOpen(true)}>Change password</Button>
      <Dialog title="Change password" open={open} onClose={() => setOpen(false)}>
        <div class="dialog-body">
          <PasswordForm onDone={done} />
        </div>
      </Dialog>
    </Card>
  );
}

export default function Account() {
  const { user, may, session } = useSession();
  if (!user) return null;
  const scope = user.scope.map((one) => `${one.dimension}: ${one.values.join(", ")}`);
  return (
    <>
      <PageHead title="Account" lead="Your role, how you sign in, and the tokens that act on your behalf." />
      <Grid>
        <Card title="You">
          <Facts
            facts={[
              ["Name", user.display_name || user.name],
              ["Signs in as", <code>{user.name}</code>],
              ["Role", words(user.role)],
              ["Sees", scope.length > 0 ? scope.join("; ") : "everything that the role allows"],
              [
                "May",
                <span class="row">
                  {(session.permissions ?? []).map((one) => (
                    <Badge key={one}>{words(one)}</Badge>
                  ))}
                </span>,
              ],
            ]}
          />
        </Card>
        {user.local && (
          <div class="stack stack-top">
            <Password />
            <SecondFactor />
          </div>
        )}
      </Grid>
      {may("manage_own") && <Sessions />}
      {may("manage_own") && <Tokens permissions={session.permissions ?? []} />}
    </>
  );
}
