// The second factor: turned on with a QR code and a first code of the app, turned off with the password.
import { useState } from "preact/hooks";
import { ApiError, post, put, remove } from "../../api/client";
import type { Enrolment } from "../../api/types";
import { useSession } from "../../app/session";
import { toast } from "../../app/toasts";
import { Card } from "../../components/card";
import { Badge, Button } from "../../components/controls";
import { Dialog } from "../../components/dialog";
import { FormError, TextField } from "../../components/form";
import { Note } from "../../components/states";
import { plural } from "../../util/text";

// Four letters at a time, to be typed by hand.
function grouped(secret: string): string {
  return secret.replace(/(.{4})(?=.)/g, "$1 ");
}

function Enrol({ enrolment, onDone }: { enrolment: Enrolment; onDone: () => void }) {
  const [code, setCode] = useState("");
  const [error, setError] = useState<ApiError>();
  const confirm = async (event: Event) => {
    event.preventDefault();
    setError(undefined);
    try {
      await put("/session/totp", { code });
      onDone();
    } catch (caught) {
      setError(caught as ApiError);
      setCode("");
    }
  };
  return (
    <form class="form" onSubmit={(event) => void confirm(event)}>
      <p>Scan this with an authenticator app, then type the code that it shows.</p>
      <img class="qr" alt="QR code of the second factor; the same code is below as text" width={200} height={200}
        src={`data:image/svg+xml;utf8,${encodeURIComponent(enrolment.qr_svg)}`} />
      <p class="small muted qr-text">
        or type <code>{grouped(enrolment.secret)}</code>
      </p>
      <div class="code-input">
        <TextField label="Code" value={code} onValue={(value) => setCode(value.replace(/\D/g, "").slice(0, 6))} inputMode="numeric"
          autoComplete="one-time-code" required />
      </div>
      <FormError error={error} />
      <Button tone="primary" type="submit" disabled={code.length !== 6}>
        Turn on
      </Button>
    </form>
  );
}

function TurnOff({ onDone }: { onDone: () => void }) {
  const [password, setPassword] = useState("");
  const [error, setError] = useState<ApiError>();
  const submit = async (event: Event) => {
    event.preventDefault();
    setError(undefined);
    try {
      await remove("/session/totp", { password });
      onDone();
    } catch (caught) {
      setError(caught as ApiError);
    }
  };
  return (
    <form class="form" onSubmit={(event) => void submit(event)}>
      <TextField label="Your password" type="password" value={password} onValue={setPassword} autoComplete="current-password" required />
      <FormError error={error} />
      <Button tone="danger" type="submit" disabled={!password}>
        Turn off
      </Button>
    </form>
  );
}

function RecoveryCodes({ codes }: { codes: string[] }) {
  const copy = () =>
    void navigator.clipboard
      .writeText(codes.join("\n"))
      .then(() => toast("Codes copied."))
      .catch(() => toast("The browser does not allow copying; select the text instead.", "bad"));
  return (
    <div class="form">
      <Note tone="warn">They are shown only once. Each one replaces a code of the app once; earlier ones no longer work.</Note>
      <pre class="command secret" tabIndex={0}>{codes.join("\n")}</pre>
      <div class="row">
        <Button icon="copy" onClick={copy}>Copy</Button>
      </div>
    </div>
  );
}

export function SecondFactor() {
  const { user, refresh } = useSession();
  const [enrolment, setEnrolment] = useState<Enrolment>();
  const [off, setOff] = useState(false);
  const [codes, setCodes] = useState<string[]>();
  const isOn = user?.has_totp ?? false;
  const left = user?.recovery_codes ?? 0;
  const fail = (error: Error) => toast(error.message, "bad");
  const makeCodes = () =>
    void post<{ codes: string[] }>("/session/totp/codes").then((made) => (setCodes(made.codes), void refresh())).catch(fail);
  const begin = () => void post<Enrolment>("/session/totp").then(setEnrolment).catch(fail);
  const done = (text: string) => () => {
    setEnrolment(undefined);
    setOff(false);
    toast(text);
    void refresh();
  };
  return (
    <Card title="Second factor" actions={<Badge tone={isOn ? "good" : "warn"}>{isOn ? "on" : "off"}</Badge>}>
      <p class="muted account-text">
        {isOn ? "Every sign-in needs a code from your authenticator app." : "With it, a stolen password is not enough to sign in."}
      </p>
      {isOn && (
        <p class="muted account-text">
          {left > 0 ? `${plural(left, "recovery code")} left.` : "No recovery codes: without the app, only an admin can let you in."}
        </p>
      )}
      <div class="row">
        {isOn && <Button tone={left > 0 ? "plain" : "primary"} onClick={makeCodes}>New recovery codes</Button>}
        {isOn ? <Button onClick={() => setOff(true)}>Turn off</Button> : <Button tone="primary" onClick={begin}>Turn on</Button>}
      </div>
      <Dialog title="Recovery codes" open={codes !== undefined} onClose={() => setCodes(undefined)}>
        <div class="dialog-body">{codes && <RecoveryCodes codes={codes} />}</div>
      </Dialog>
      <Dialog title="Turn on the second factor" open={enrolment !== undefined} onClose={() => setEnrolment(undefined)}>
        <div class="dialog-body">{enrolment && <Enrol enrolment={enrolment} onDone={done("The second factor is on.")} />}</div>
      </Dialog>
      <Dialog title="Turn off the second factor" open={off} onClose={() => setOff(false)}>
        <div class="dialog-body">
          <TurnOff onDone={done("The second factor is off.")} />
        </div>
      </Dialog>
    </Card>
  );
}
