"""Invoices by mail to a real SMTP server (aiosmtpd, from Debian): TLS from the first byte and by STARTTLS, signing in,
the PDF as it was issued; and what is refused: a server without TLS, a certificate of nobody, a wrong password, a
recipient that the server does not know. Skipped without aiosmtpd."""
import asyncio
import email
import email.policy
import json
import os
import ssl
import subprocess
import sys
import threading

try:
    from aiosmtpd.smtp import SMTP, AuthResult
except ImportError:
    # Debian's package is for Debian's Python.
    if sys.executable != "/usr/bin/python3" and subprocess.run(
            ["/usr/bin/python3", "-c", "import aiosmtpd"], capture_output=True).returncode == 0:
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    print("cli/mail: skipped, without python3-aiosmtpd")
    sys.exit(0)

from harness import BILL, BINARY, expect, expect_run, folder, report

PASSWORD = "not 4 the process list"
CONFIG = """
invoice:
  prefix: NW
  by: team
  issuer: {name: Northwind Compute Ltd, email: help@northwind.example}
  customers:
    nlp: {email: accounts@nlp.example}
    search: {email: nobody@nlp.example}
mail:
  server: "%s"
  from: billing@northwind.example
"""


class Inbox:
    def __init__(self):
        self.mails = []

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody"):
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        self.mails.append((session.ssl is not None, envelope.mail_from, envelope.rcpt_tos,
                           email.message_from_bytes(envelope.content, policy=email.policy.default)))
        return "250 taken"


def authenticator(server, session, envelope, mechanism, data):
    right = getattr(data, "login", b"") == b"billing" and getattr(data, "password", b"") == PASSWORD.encode()
    return AuthResult(success=right, handled=right)


class Server(threading.Thread):
    """An SMTP server in a thread, on a port that the system chooses."""

    def __init__(self, tls=None, **options):
        super().__init__(daemon=True)
        self.tls, self.options, self.ready = tls, options, threading.Event()
        self.start()
        self.ready.wait(60)

    def run(self):
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)

        def session():
            return SMTP(inbox, hostname="localhost", loop=loop, **self.options)

        server = loop.run_until_complete(loop.create_server(session, "localhost", 0, ssl=self.tls))
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        loop.run_forever()


cwd = folder()
subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem",
                "-days", "30", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], cwd=cwd, check=True,
               capture_output=True)
context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
context.load_cert_chain(cwd / "cert.pem", cwd / "key.pem")
inbox = Inbox()
def configure(server, more=""):
    (cwd / "pennyweight.yaml").write_text(CONFIG % server + more)


configure("smtps://nowhere")
expect_run(BILL, cwd)
expect_run(["import", "--cluster", "lab", "nodes.csv", "jobs.txt", "bill.csv"], cwd)
expect_run(["allocate"], cwd)
expect_run(["close", "2026-03", "--by", "ann"], cwd)
expect_run(["invoice", "--month", "2026-03", "--issue"], cwd)
ports = {"smtps": Server(tls=context, authenticator=authenticator, auth_require_tls=False).port,
         "starttls": Server(tls_context=context, require_starttls=True, authenticator=authenticator,
                            auth_required=True).port,
         "plain": Server().port}
(cwd / "mail.pw").write_text(PASSWORD + "\n")
SIGNED_IN = "  user: billing\n  password_file: mail.pw\n  ca_file: cert.pem\n"
for kind, scheme in (("smtps", "smtps"), ("starttls", "smtp")):
    configure(f"{scheme}://localhost:{ports[kind]}", SIGNED_IN)
    inbox.mails.clear()
    expect_run(["invoice", "send", "NW-2026-03-0001"], cwd, 0, ["NW-2026-03-0001 sent to accounts@nlp.example"])
    expect(len(inbox.mails) == 1, f"{kind}: {len(inbox.mails)} mails")
    is_tls, sender, recipients, mail = inbox.mails[0]
    expect(sender == "billing@northwind.example" and recipients == ["accounts@nlp.example"], f"{sender} {recipients}")
    expect(is_tls or kind == "smtps", "the mail came over TLS")
    expect(mail["Subject"] == "Invoice NW-2026-03-0001 from Northwind Compute Ltd", mail["Subject"])
    expect(mail["Reply-To"] == "help@northwind.example", "answers go to the issuer")
    attached, = mail.iter_attachments()
    shown = subprocess.run([BINARY, "invoice", "show", "NW-2026-03-0001", "--format", "pdf"], cwd=cwd, check=True,
                           capture_output=True).stdout
    expect(attached.get_content() == shown and attached.get_filename() == "NW-2026-03-0001.pdf", "the PDF, byte for byte")
    expect("Total:" in mail.get_body().get_content(), "the text names the total")

# A month: who can't be reached is named, the others have theirs.
inbox.mails.clear()
out, err = expect_run(["invoice", "send", "--month", "2026-03"], cwd, 1, ["was not sent", "550"])
expect(sorted(mail[2][0] for mail in inbox.mails) == ["accounts@nlp.example"], f"{[mail[2] for mail in inbox.mails]}")
expect("no address for 'vision'" in out + err, f"who has no address is named: {out}{err}")
inbox.mails.clear()
expect_run(["invoice", "send", "--month", "2026-03", "--customer", "nlp", "--to", "a@b.example,c@d.example",
            "--format", "csv"], cwd)
expect(inbox.mails[0][2] == ["a@b.example", "c@d.example"], "to whom it is told")
expect_run(["invoice", "send", "NW-2026-03-0001", "--to", "a b@c"], cwd, 2, ["is not a mail address"])
expect_run(["invoice", "send"], cwd, 2, ["--month"])
expect_run(["invoice", "send", "--month", "2026-02"], cwd, 1, ["no invoice was issued"])

# Refused: without TLS, a certificate of nobody, a wrong password, no password.
inbox.mails.clear()
configure(f"smtp://localhost:{ports['plain']}")
expect_run(["invoice", "send", "NW-2026-03-0001"], cwd, 1, ["offers no TLS", "mail.allow_plain"])
configure(f"smtps://localhost:{ports['smtps']}", SIGNED_IN.replace("  ca_file: cert.pem\n", ""))
expect_run(["invoice", "send", "NW-2026-03-0001"], cwd, 1, ["mail.ca_file"])
(cwd / "mail.pw").write_text("wrong\n")
configure(f"smtps://localhost:{ports['smtps']}", SIGNED_IN)
expect_run(["invoice", "send", "NW-2026-03-0001"], cwd, 1, ["check mail.user and its password"])
configure(f"smtps://localhost:{ports['smtps']}", "  user: billing\n")
expect_run(["invoice", "send", "NW-2026-03-0001"], cwd, 2, ["PENNYWEIGHT_MAIL_PASSWORD"])
expect(inbox.mails == [], "nothing was delivered")
configure(f"smtp://localhost:{ports['plain']}", "  allow_plain: true\n")
expect_run(["invoice", "send", "NW-2026-03-0001"], cwd)
os.environ["PENNYWEIGHT_MAIL_PASSWORD"] = PASSWORD
configure(f"smtps://localhost:{ports['smtps']}", "  user: billing\n  ca_file: cert.pem\n")
out, err = expect_run(["invoice", "send", "NW-2026-03-0001"], cwd)
expect(PASSWORD not in out + err, "no secret in messages")
events = [json.loads(line) for path in cwd.glob("pennyweight.duckdb.audit*") if path.suffix not in (".key", ".head")
          for line in path.read_text(errors="replace").splitlines() if line.startswith("{")]
sent = [event for event in events if event.get("action") == "invoice.send"]
expect(len(sent) == 6, f"each sending is an entry of the audit log: {[one.get('action') for one in events]}")
expect(sum(event.get("action") == "invoice.send.failed" for event in events) == 4, "and so is each that failed")
for wrong in ("http://x", "smtp://me:secret@x"):
    configure(wrong)
    expect_run(["invoice", "list"], cwd, 2, ["mail.server is smtps://"])
report("cli/mail")
