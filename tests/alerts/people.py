"""Alerts that reach people: by mail over a real SMTP server (aiosmtpd, from Debian), at once and as a digest,
PagerDuty's events, and chats in their own words; each to those who own what it is about. Skipped without aiosmtpd.

usage: people.py PENNYWEIGHT ROOT
"""
import json
import sys
import time

from steps import SKIPPED, SMTP, Serve, billed_folder, expect, finish, receive, receive_mail, run, wait_for

mails, events, chats = [], [], {}
refusals = [2]  # so many mails are refused for a while first


def take_mail(recipients, mail):
    if refusals[0] > 0:
        refusals[0] -= 1
        return "451 come back later"
    mails.append((recipients, mail))


def take_event(_path, _headers, body):
    events.append(json.loads(body))
    return 202


def take_chat(path, _headers, body):
    chats.setdefault(path, []).append(body.decode())
    return 200


def to(address):
    return [mail for recipients, mail in mails if address in recipients]


def main():
    pager = receive(take_event)
    chat = receive(take_chat)
    chat_url = f"http://127.0.0.1:{chat.server_address[1]}"
    period = "period: project, from: 2026-03-01, to: 2199-12-31"
    # A digest that is hours away from now, whatever hour it is.
    hour = (time.gmtime().tm_hour + 12) % 24
    config = f"""
clusters: [{{name: lab, kind: slurm, time_zone: UTC}}]
time_zone: UTC
mail: {{server: "smtp://127.0.0.1:{receive_mail(take_mail)}", from: alerts@example.com, allow_plain: true}}
budgets:
  - {{name: b1, amount: 1 USD, owner: ana, {period}}}
  - {{name: b2, amount: 2 USD, owner: "bo <!channel>", {period}}}
alerts:
  every: 1s
  off: [budget_forecast, budget_probable, costs_missing, cost_anomaly]
  allow_private: [127.0.0.1]
  digest_hour: {hour}
  receivers:
    - {{name: all, kind: email, to: [all@example.com, else@example.com]}}
    - {{name: ana, kind: email, to: [ana@example.com], owners: [ana], severity: critical}}
    - {{name: eve, kind: email, to: [eve@example.com], owners: [eve]}}
    - {{name: daily, kind: email, to: [daily@example.com], digest: day}}
    - {{name: slack, kind: slack, url: "{chat_url}/slack", text: "<!here> *{{status}}* {{summary}} <https://book/{{rule}}> {{owner}}"}}
    - {{name: teams, kind: teams, url: "{chat_url}/teams", text: "{{severity}}: {{summary}}"}}
    - {{name: plain, kind: slack, url: "{chat_url}/plain"}}
    - {{name: pager, kind: pagerduty, secret_file: pager.key, url: "http://127.0.0.1:{pager.server_address[1]}/v2/enqueue"}}
"""
    folder = billed_folder("people", config, {"pager.key": "a routing key\n"})
    serve = Serve(folder).begin()
    wait_for(lambda: len(events) >= 2 and to("all@example.com") and to("ana@example.com"), "mail and events arrive")
    mail = to("all@example.com")[0]
    expect(mail["Subject"].startswith("[pennyweight] 2 alerts: Budget b1: "), mail["Subject"])
    expect(mail["From"] == "alerts@example.com" and mail["Message-ID"].startswith("<alert."), "who sends it")
    text = mail.get_body().get_content()
    for word in ("Firing:", "(critical) Budget b2", "owner: bo <!channel>", "budget_exhausted/b2 2026-03-01/"):
        expect(word in text, f"the mail says {word}: {text}")
    expect(to("else@example.com"), "both addresses get it")
    mail = to("ana@example.com")[0]
    expect(mail["Subject"].startswith("[pennyweight] 1 alert: Budget b1: "), mail["Subject"])
    expect(not to("eve@example.com"), "eve owns nothing of it")
    expect(any("delivered before" in mail.get_body().get_content() for _, mail in mails),
           "what was refused for a while is marked when it comes again")
    expect({event["payload"]["custom_details"]["owner"] for event in events} == {"ana", "bo <!channel>"}, f"{events}")
    expect(all(event["routing_key"] == "a routing key" and event["event_action"] == "trigger" for event in events),
           "events of PagerDuty")
    wait_for(lambda: len(chats) == 3, "chats are told")
    said = json.loads(chats["/slack"][0])["text"].split("\n")
    expect(len(said) == 2 and all(one.startswith("<!here> *FIRING* Budget b") for one in said), f"{said}")
    expect(said[1].endswith("<https://book/budget_exhausted> bo &lt;!channel&gt;"), f"a name mentions nobody: {said}")
    expect("critical: Budget b1: " in chats["/teams"][0], chats["/teams"][0])
    expect(json.loads(chats["/plain"][0])["text"].startswith("FIRING (critical): Budget b1: "), chats["/plain"][0])
    # The digest waits on disk, whatever is killed, until it is due.
    serve.kill()
    expect(not to("daily@example.com"), "the digest is not due yet")
    path = next(folder.glob("*.live/alerts.json"))
    state = json.loads(path.read_text())
    waiting = [entry for entry in state["outbox"] if entry["receiver"] == "daily"]
    expect(len(waiting) == 2, f"{len(waiting)} notifications wait for the digest")
    for entry in waiting:
        expect(entry["next"][11:] == f"{hour:02}:00:00Z", f"the digest is at its hour: {entry['next']}")
        entry["next"] = "2026-03-06T00:00:00Z"
    path.write_text(json.dumps(state))
    serve.begin()
    wait_for(lambda: to("daily@example.com"), "the digest arrives")
    expect(to("daily@example.com")[0]["Subject"].startswith("[pennyweight] 2 alerts: "), "one mail for both")
    serve.end()
    before, count = len(mails), len(events)
    run(["alerts", "--test", "eve"], folder)
    expect(len(mails) == before + 1 and to("eve@example.com"), "the test mail arrives")
    run(["alerts", "--test", "pager"], folder)
    expect([event["event_action"] for event in events[count:]] == ["trigger", "resolve"], "a test leaves no incident")
    expect(len({event["dedup_key"] for event in events[count:]}) == 1, "both are of one incident")
    pager.shutdown()
    chat.shutdown()
    finish("people", folder)


if __name__ == "__main__":
    if not SMTP:
        print("alerts/people: skipped, without python3-aiosmtpd")
        sys.exit(SKIPPED)
    main()
