// Account: one's own password, second factor and tokens.
import { useState } from "preact/hooks";
import { toast } from "../../app/toasts";
import { useSession } from "../../app/session";
import { Card, Facts, Grid, PageHead } from "../../components/card";
import { Badge, Button } from "../../components/controls";
import { Dialog } from "../../components/dialog";
import { words } from "../../util/text";
import { PasswordForm } from "./password";
import { SecondFactor } from "./second_factor";
import { Tokens } from "./tokens";

function Password() {
  const [open, setOpen] = useState(false);
  const done = () => {
    setOpen(false);
    toast("The password is changed.");
  };
  return (
    <Card title="Password">
      <p class="muted account-text">At least twelve characters. It is kept as a hash that nobody can turn back.</p>
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
      <PageHead title="Account" lead="What is yours here: who you are, how you sign in, and what acts in your name." />
      <Grid>
        <Card title="You">
          <Facts
            facts={[
              ["Name", user.display_name || user.name],
              ["Signs in as", <code>{user.name}</code>],
              ["Role", words(user.role)],
              ["Sees", scope.length > 0 ? scope.join("; ") : "everything its role reaches"],
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
      {may("manage_own") && <Tokens permissions={session.permissions ?? []} />}
    </>
  );
}
