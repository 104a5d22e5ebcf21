"""user and token: what they refuse, what they show once, what the audit log says of them."""
import json
import re
import sqlite3
import stat

from harness import expect, expect_run, folder, report, run

cwd = folder()
PASSWORD = "tin-otter-42-lamp"
accounts = cwd / "pennyweight.duckdb.live" / "accounts.sqlite"


def listed(what="user"):
    code, out, err = run([what, "list", "--format", "json"], cwd)
    expect(code == 0, f"{what} list: {err}")
    return {row["name"]: row for row in json.loads(out)[0]["rows"]}


# Nothing is made by looking.
expect_run(["user", "list"], cwd, 1, ["user add NAME --role admin"])
expect_run(["token", "list"], cwd, 1, ["there are no accounts"])
expect(not accounts.exists(), "user list makes no file")

# A one-time password is alone on standard output, and works for a script.
code, out, err = run(["user", "add", "ana"], cwd)
expect(code == 0 and re.fullmatch(r"([0-9a-hjkmnp-tv-z]{4}-){4}[0-9a-hjkmnp-tv-z]{4}\n", out),
       f"user add shows a password: {out!r}")
expect("there is no admin" in err, f"user add says that nobody is an admin: {err}")
one_time = out.strip()
out, err = expect_run(["user", "add", "root", "--role", "admin"], cwd)
expect("no admin" not in err, err)
for path in accounts, accounts.with_name("accounts.sqlite.key"):
    expect(stat.S_IMODE(path.stat().st_mode) == 0o600, f"{path} is for its owner alone")

# Passwords come from a file or from standard input.
(cwd / "password").write_text(PASSWORD + "\n")
out, err = expect_run(["user", "add", "bo", "--role", "finance", "--scope", "team=r\\,d; cluster=lab",
                       "--email", "bo@lab.org", "--password-file", "password"], cwd)
expect(out == "", "a password that was given is not shown")
expect_run(["user", "add", "cy", "--password-file", "-"], cwd, stdin=b"copper-kettle-77\n")
users = listed()
expect(users["ana"]["state"] == "must change password", users["ana"])
expect(users["bo"]["state"] == "active" and users["bo"]["scope"] == "team=r\\,d; cluster=lab",
       users["bo"])
expect(users["root"]["scope"] == "everything", users["root"])

# What is refused leaves no trace.
for arguments, code, text in [
        (["add", "bo"], 1, "user 'bo' exists already"),
        (["add", "Bo"], 1, "a-z, 0-9"),
        (["add", "di", "--role", "owner"], 2, "--role"),
        (["add", "di", "--scope", ""], 2, "--scope"),
        (["add", "di", "--scope", "nlp"], 2, "'everything'"),
        (["add", "di", "--password-file", "nowhere"], 1, "nowhere"),
        (["add", "di", "--no-password", "--password-file", "password"], 2, "can't be combined"),
        (["add"], 2, "NAME"),
        (["change", "bo", "--enable", "--disable"], 2, "can't be combined"),
        (["change", "nobody", "--role", "admin"], 1, "there is no user 'nobody'"),
        (["change", "root", "--scope", "team=nlp"], 1, "last admin"),
        (["change", "root", "--disable"], 1, "last admin"),
        (["remove", "root"], 1, "last admin"),
        (["remove", "nobody"], 1, "there is no user 'nobody'"),
        (["password", "nobody"], 1, "there is no user 'nobody'"),
        (["totp-off", "nobody"], 1, "there is no user 'nobody'")]:
    expect_run(["user", *arguments], cwd, code, [text])
for bad in "short", "Password2026!", "bo-bo-bo-bo-bo", "123456789012":
    _, err = expect_run(["user", "password", "bo", "--password-file", "-"], cwd, 1,
                        stdin=bad.encode())
    expect(bad not in err, f"a refused password is not repeated: {err}")
expect(listed() == users, "what was refused changed nothing")

# A change says what it was before.
expect_run(["user", "change", "bo", "--role", "team_lead", "--scope", "everything"], cwd, 0,
           ["bo is changed"])
expect_run(["user", "change", "bo", "--role", "team_lead"], cwd, 0, ["nothing changes for bo"])
expect_run(["user", "change", "cy", "--disable"], cwd)
expect(listed()["cy"]["state"] == "disabled", "cy is disabled")
expect_run(["user", "change", "cy", "--enable"], cwd)
expect_run(["user", "add", "bot", "--role", "operator", "--no-password"], cwd)
expect(listed()["bot"]["signs_in_by"] == "tokens", "nobody signs in as bot")
expect_run(["user", "password", "bot"], cwd, 1, ["has no password here"])

# Tokens: the secret once, and nowhere else.
code, secret, err = run(["token", "add", "bot", "--name", "agents", "--only", "send_telemetry,read_live",
                         "--days", "30"], cwd)
secret = secret.strip()
expect(code == 0 and re.fullmatch(r"pwt_[A-Za-z0-9_-]{43}", secret), f"token add: {secret!r} {err}")
for arguments, code, text in [
        (["add", "bot", "--name", "x", "--only", "read_bill"], 2, "there is no permission"),
        (["add", "bot", "--name", "x", "--only", "manage_users"], 1, "does not allow manage_users"),
        (["add", "bot", "--name", "x", "--days", "401"], 2, "--days"),
        (["add", "bot", "--name", "x", "--expires", "2020-01-01"], 1, "already be expired"),
        (["add", "bot", "--name", "x", "--expires", "2199-01-01"], 1, "at most 400 days"),
        (["add", "bot", "--name", "x", "--expires", "soon"], 2, "--expires"),
        (["add", "bot"], 2, "--name"),
        (["add", "nobody", "--name", "x"], 1, "there is no user 'nobody'"),
        (["list", "--user", "nobody"], 1, "there is no user 'nobody'"),
        (["revoke", "t_0"], 1, "token list")]:
    expect_run(["token", *arguments], cwd, code, [text])
token = listed("token")["agents"]
expect(token["only"] == "send_telemetry, read_live" and token["state"] == "good", token)
expect_run(["token", "revoke", token["id"]], cwd, 0, ["is revoked"])
expect_run(["token", "revoke", token["id"]], cwd, 0, ["is revoked already"])
expect(listed("token")["agents"]["state"] == "revoked", "the token is revoked")
expect_run(["user", "remove", "bot"], cwd)
expect(listed("token") == {}, "a user's tokens are removed with the user")

# The log has each change, with what was before and after, and no secret.
log = (cwd / "pennyweight.duckdb.audit").read_text()
entries = [json.loads(line) for line in log.splitlines()]
actions = [entry["action"] for entry in entries]
expect(actions == ["user.add"] * 4 + ["user.change"] * 3 + ["user.add", "token.add", "token.revoke",
                                                            "user.remove"], actions)
expect(all(entry["actor"].startswith("cli:") for entry in entries), entries)
expect("finance" in str(entries[4]["before"]) and "team_lead" in str(entries[4]["after"]),
       entries[4])
expect_run(["audit", "verify"], cwd, 0, ["is intact: 11 entries"])
# What is cut off at its end is known to the accounts, also once more is appended.
log_file = cwd / "pennyweight.duckdb.audit"
log_file.write_text("".join(log.splitlines(keepends=True)[:-2]))
expect_run(["audit", "verify"], cwd, 1, ["ends with number 9, and number 11 is known"])
expect_run(["audit", "verify", "--trail", str(log_file)], cwd, 0, ["is intact: 9 entries"])
log_file.rename(cwd / "aside")
expect_run(["audit", "verify"], cwd, 1, ["its entry number 11 is known"])
log_file.write_text(log)
expect_run(["audit", "verify"], cwd, 0, ["is intact: 11 entries"])
(cwd / "aside").unlink()
kept = b"".join(path.read_bytes() for path in cwd.rglob("*")
                if path.is_file() and path.name != "password")
for text in one_time, PASSWORD, "copper-kettle-77", secret, secret[4:]:
    expect(text.encode() not in kept, f"{text} is in no file")

# A file of a later version is refused and left as it is.
with sqlite3.connect(accounts) as database:
    database.execute("PRAGMA user_version = 99")
database.close()
expect_run(["user", "list"], cwd, 1, ["has version 99"])
report("cli/accounts")
