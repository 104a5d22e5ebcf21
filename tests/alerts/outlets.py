"""Where alerts arrive in the tests of rules: a webhook, and, where they are installed, a real SMTP server and a real
Alertmanager. Says what did not arrive, and what came twice without a mark."""
import json
import random
import time

from steps import ALERTMANAGER, KILLS, SMTP, begin_alertmanager, expect, receive, receive_mail, wait_for


class Outlets:
    def __init__(self, folder):
        self.hooks, self.mails, self.managed, self.programs = [], [], [], []
        self.server = receive(self.take)
        address = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.receivers = [f'{{name: hook, url: "{address}/hook"}}']
        self.mail = ""
        if SMTP:
            port = receive_mail(lambda _, mail: self.mails.append(mail.get_body().get_content()))
            self.mail = f'mail: {{server: "smtp://127.0.0.1:{port}", from: alerts@example.com, allow_plain: true}}'
            self.receivers.append("{name: people, kind: email, to: [ops@example.com]}")
        if ALERTMANAGER:
            with open(folder / "alertmanager.log", "ab") as log:
                process, port = begin_alertmanager(folder, log, address + "/manager")
            self.programs.append(process)
            self.receivers.append(f'{{name: manager, kind: alertmanager, url: "http://127.0.0.1:{port}"}}')

    def config(self, rules):
        """The configuration of receivers, with rules that wait for nothing and end after four seconds."""
        listed = "\n".join(f"    - {one}" for one in self.receivers)
        each = "".join(f"    - {{rule: {rule}, for: 0s, keep: 4s}}\n" for rule in sorted(rules))
        return f"  allow_private: [127.0.0.1]\n  rules:\n{each}  receivers:\n{listed}\n"

    def take(self, path, _, body):
        body = json.loads(body)
        if path == "/manager":
            self.managed.extend(body["alerts"])
        else:
            self.hooks.append(body)
        if KILLS:
            # So that `serve` is also killed between the arrival and the answer.
            time.sleep(random.uniform(0, 1.5))

    def rules(self, status):
        return {body["rule"] for body in self.hooks if body["status"] == status}

    def wait_for(self, status, rules, patience_s=240):
        """Until the webhook has heard of all these rules that they fire, or that they are resolved."""
        wait_for(lambda: self.rules(status) >= rules, f"{status}: {sorted(rules)}", patience_s)
        expect(self.rules(status) >= rules, f"{status} lacks {sorted(rules - self.rules(status))}")

    def check(self, rules, all_end=False):
        """Each alert of each rule began and ended everywhere, once, or marked as a repetition of the same."""
        lacking = sorted(rules - self.rules("firing") | rules - self.rules("resolved"))
        expect(not lacking, f"these rules did not fire or did not end: {lacking}")
        seen = {}
        for body in list(self.hooks):
            expect(body["id"] not in seen or body["is_retry"], f"{body['id']} came twice unmarked")
            seen[body["id"]] = body
        for body in seen.values():
            if body["status"] == "resolved":
                expect(body["id"].replace("/resolved", "/firing") in seen, f"{body['id']} ended unheard")
        def unended():
            """Those that began, and, unless `all_end`, began anew: what still holds has not ended."""
            told = {body["id"] for body in list(self.hooks)}
            open_ones = sorted(one for one in told
                               if one.endswith("/firing") and one.replace("/firing", "/resolved") not in told)
            begun = [one.rsplit("/", 2) for one in told if one.endswith("/firing")]
            return [one for one in open_ones if all_end or any(
                scope == one.rsplit("/", 2)[0] and since > one.rsplit("/", 2)[1] for scope, since, _ in begun)]
        wait_for(lambda: not unended(), "each alert ends", 60)
        expect(not unended(), f"it is not told that these ended: {unended()[:5]}")
        if SMTP:
            def unmailed():
                text = "\n".join(list(self.mails))
                return sorted(one for one in seen if one not in text)
            wait_for(lambda: not unmailed(), "each notification is in a mail", 60)
            expect(not unmailed(), f"no mail says {unmailed()[:5]}")
        if ALERTMANAGER:
            for status in ("firing", "resolved"):
                def missing(status=status):
                    told = {alert["labels"]["alertname"] for alert in list(self.managed) if alert["status"] == status}
                    return sorted({"Pennyweight_" + rule for rule in rules} - told)
                wait_for(lambda missing=missing: not missing(), f"the Alertmanager hands on: {status}", 60)
                expect(not missing(), f"the Alertmanager lacks {status}: {missing()}")

    def close(self):
        for program in self.programs:
            program.terminate()
            program.wait(timeout=30)
        self.server.shutdown()

    def summary(self):
        retries = sum(body["is_retry"] for body in self.hooks)
        return (f"{len(self.hooks)} notifications ({retries} marked as repeated), {len(self.mails)} mails, "
                f"{len(self.managed)} alerts of the Alertmanager")
