"""Sign-in by OpenID Connect, end to end: npm's oidc-provider (certified) on loopback, a browser that
follows redirects and sends forms, and the real `pennyweight serve`. And what must be refused.

usage: test_openid.py PENNYWEIGHT ROOT CACHE
"""
import http.cookiejar
import json
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from serving import BINARY, CONFIG, ROOT, Server, expect, free_port, guarded

CALLBACK = "http://127.0.0.1:1/api/v1/session/openid/callback"  # nobody listens: the test is there
COOKIE = "pennyweight-openid"
SECRET = "s3cr:et +/%&"
OPENID = """
  openid:
    issuer: {issuer}
    name: Northwind login
    client_id: secret
    client_secret_file: openid.secret
    redirect_url: {callback}
    scopes: [openid, profile, email, groups]
    role_claim: groups
    roles: {{gpu-admins: admin, team-nlp: team_lead}}
    scope_claim: groups
    scope: [{{match: "team-*", dimension: team}}]
"""
seen = set()  # secrets that must not be in any log


class Provider:
    def __init__(self, logout):
        self.process = subprocess.Popen(
            ["node", ROOT / "tests/api/openid_provider.mjs", "--redirect", CALLBACK, "--logout",
             logout], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.issuer = json.loads(self.process.stdout.readline())["issuer"]

    def stop(self):
        self.process.stdin.close()
        self.process.wait(30)


class Stays(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def new_browser():
    return urllib.request.build_opener(
        urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()), Stays())


def at_provider(url, person, browser=None):
    """What a person does at the provider. Returns the redirect target, without its origin."""
    browser = browser or new_browser()
    body = None
    for _ in range(20):
        if url.startswith(CALLBACK):
            query = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)
            seen.update(query["code"] + query["state"])
            return url.removeprefix("http://127.0.0.1:1")
        try:
            answer = browser.open(url, body)
        except urllib.error.HTTPError as refused:
            answer = refused
        page, body = answer.read().decode(), None
        if answer.headers.get("Location"):
            url = urllib.parse.urljoin(url, answer.headers["Location"])
            continue
        form = re.search(r'action="([^"]*)"', page)
        prompt = re.search(r'name="prompt" value="(\w+)"', page)
        if not form or not prompt:
            raise RuntimeError(f"{url}: {answer.status} and no form: {page[:300]}")
        url = urllib.parse.urljoin(url, form[1])
        body = urllib.parse.urlencode(
            {"prompt": prompt[1], "login": person, "password": "any"}).encode()
    raise RuntimeError("the provider leads nowhere")


def begin(server, next_page="/explore?by=team"):
    """A browser on its way to the provider, and the address that it is sent to."""
    asker = server.anonymous()
    sent = asker.get("/api/v1/session/openid", {"next": next_page})
    expect(sent.status == 302, f"one is sent to the provider: {sent}")
    cookie = sent.headers.get("set-cookie", "")
    for word in (COOKIE + "=", "HttpOnly", "SameSite=Lax", "Max-Age=600"):
        expect(word in cookie, f"no {word} in the cookie {cookie}")
    seen.add(asker.cookies.get(COOKIE, ""))
    return asker, sent.headers["location"]


def sign_in(server, person, **more):
    asker, url = begin(server, **more)
    return asker, asker.get(at_provider(url, person))


def check_people(server):
    ana, back = sign_in(server, "ana")
    expect(back.status == 302 and back.headers["location"] == "/explore?by=team",
           f"ana is led to the page that she wanted: {back}")
    expect(COOKIE not in ana.cookies, "the cookie of the sign-in is taken away")
    session = ana.get("/api/v1/session").json()
    user = session["user"]
    expect((user["name"], user["role"], user["local"]) == ("ana", "admin", False), f"ana: {user}")
    expect(user["display_name"] == "Ana Lima", f"ana: {user}")
    expect(session["sign_in"]["openid"]["name"] == "Northwind login", f"the button: {session}")
    nina, back = sign_in(server, "nina")
    expect(back.status == 302, f"nina: {back}")
    user = nina.get("/api/v1/session").json()["user"]
    expect(user["role"] == "team_lead", f"nina: {user}")
    expect(user["scope"] == [{"dimension": "team", "values": ["nlp", "vision"]}], f"nina: {user}")
    rows = nina.get("/api/v1/costs", {"by": "team", "month": "2026-03"}).json()["tables"][0]["rows"]
    expect({row["team"] for row in rows} <= {"nlp", "vision"} and rows, f"nina sees hers: {rows}")
    expect(nina.get("/api/v1/users").status == 403, "nina manages nobody")
    again, back = sign_in(server, "ana")
    people = again.get("/api/v1/users").json()["data"]
    expect(sorted(one["name"] for one in people) == ["admin", "ana", "nina"],
           f"who comes again is no new user: {people}")
    return ana


def check_refusals(server, issuer):
    _, back = sign_in(server, "mallory")
    expect(back.status == 403, f"mallory has no role: {back}")
    asker, back = sign_in(server, "admin")
    expect(back.status == 403 and asker.get("/api/v1/session").json()["user"] is None,
           f"a name is no proof: the provider's admin is not ours: {back}")
    asker, url = begin(server)
    answer = at_provider(url, "ana")
    expect(server.anonymous().get(answer).status == 401, "another browser has not begun it")
    expect(asker.get(answer).status == 401, "and then it is used up")
    asker, url = begin(server)
    answer = at_provider(url, "ana")
    expect(asker.get(re.sub("state=[^&]*", "state=made-up", answer)).status == 401, "another state")
    asker, url = begin(server)
    mine = at_provider(url, "nina")
    _, other = begin(server)
    stolen = urllib.parse.parse_qs(urllib.parse.urlsplit(at_provider(other, "ana")).query)["code"][0]
    expect(asker.get(re.sub("code=[^&]*", "code=" + stolen, mine)).status == 401,
           "another's code is of no use")
    asker, url = begin(server)
    answer = at_provider(url, "ana")
    expect(asker.get(answer).status == 302, "once")
    held = server.anonymous()
    held.cookies = dict(asker.cookies)
    expect(held.get(answer).status == 401, "and not twice")
    asker, url = begin(server)
    state = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)["state"][0]
    refused = {"error": "access_denied", "state": state, "iss": issuer}
    back = asker.get("/api/v1/session/openid/callback", refused)
    expect(back.status == 403 and "access_denied" in back.json()["detail"], f"the user declined: {back}")
    asker, url = begin(server)
    elsewhere = urllib.parse.quote("https://elsewhere.example", safe="")
    answer = re.sub("iss=[^&]*", "iss=" + elsewhere, at_provider(url, "ana"))
    expect(asker.get(answer).status == 401, "an answer of another provider")
    for bad in ("https://evil.example/", "//evil.example", "/\\evil.example"):
        _, back = sign_in(server, "ana", next_page=bad)
        expect(back.headers.get("location") == "/", f"{bad}: led to {back.headers.get('location')}")


def check_sign_out(server, issuer):
    """Who signs out at the provider is signed out here, and their token is suspended."""
    browser = new_browser()
    nina, url = begin(server)
    nina.get(at_provider(url, "nina", browser))
    elsewhere, _ = sign_in(server, "nina")  # the provider's other session; there is one person
    nina.name, nina.csrf = "nina", nina.get("/api/v1/session").json()["csrf"]
    token = server.add_token(nina)
    expect(token.get("/api/v1/roles").status == 200, "nina's token works")
    page = browser.open(issuer + "/session/end").read().decode()
    form = re.search(r'action="([^"]*)"', page)[1]
    hidden = dict(re.findall(r'name="(\w+)" value="([^"]*)"', page))
    body = urllib.parse.urlencode(hidden | {"logout": "yes"}).encode()
    try:
        browser.open(urllib.parse.urljoin(issuer, form), body)
    except urllib.error.HTTPError as answer:
        expect(answer.status in (302, 303), f"the provider signs nina out: {answer}")
    deadline = time.monotonic() + 20
    while nina.get("/api/v1/roles").status == 200 and time.monotonic() < deadline:
        time.sleep(0.05)
    for asker, who in ((nina, "nina's session"), (elsewhere, "nina's other session"),
                       (token, "nina's token")):
        expect(asker.get("/api/v1/roles").status == 401, f"{who} has ended")
    again, back = sign_in(server, "nina")
    expect(back.status == 302 and again.get("/api/v1/roles").status == 200, "nina comes back")
    expect(token.get("/api/v1/roles").status == 200, "and so does her token")
    forged = server.anonymous().ask(
        "POST", "/api/v1/session/openid/logout", b"logout_token=eyJhbGciOiJub25lIn0.e30.",
        {"Content-Type": "application/x-www-form-urlencoded"})
    expect(forged.status == 400 and again.get("/api/v1/roles").status == 200,
           f"a forged token signs nobody out: {forged}")


def check_log(server, ana):
    entries = ana.get("/api/v1/audit", {"limit": 1000}).json()["data"]
    actions = {(entry["action"], entry["subject"]) for entry in entries}
    expect(("user.add", "user ana") in actions, f"the audit log has ana: {actions}")
    expect(any(action.startswith("sign_in") and entry_of == "user ana"
               for action, entry_of in actions), f"and her sign-in: {actions}")
    whole = subprocess.run([BINARY, "audit", "verify"], cwd=server.folder, capture_output=True,
                           text=True, timeout=60)
    expect(whole.returncode == 0 and "is intact" in whole.stdout, f"it is whole: {whole}")
    log = server.log.read_text() + (server.folder / "pennyweight.duckdb.audit").read_text()
    for secret in seen | {SECRET}:
        expect(secret and secret not in log, f"a secret stands in a log: {secret}")


def main():
    port = free_port()
    provider = Provider(f"http://127.0.0.1:{port}/api/v1/session/openid/logout")
    try:
        serve = "serve:\n  trust_loopback: false" + OPENID.format(issuer=provider.issuer,
                                                                 callback=CALLBACK)
        config = re.sub(r"^serve: .*\n", serve, CONFIG, flags=re.MULTILINE)
        expect("openid:" in config, "the configuration names the provider")
        server = Server(config, port)
        (server.folder / "openid.secret").write_text(SECRET + "\n")
        ana = check_people(server)
        check_refusals(server, provider.issuer)
        check_sign_out(server, provider.issuer)
        check_log(server, ana)
    finally:
        provider.stop()
    # While the provider is down, local users can still sign in.
    expect(server.sign_in_admin().get("/api/v1/session").json()["user"]["name"] == "admin",
           "a local user signs in without the provider")


if not (ROOT / "node_modules/oidc-provider").is_dir() or shutil.which("node") is None:
    print("skipped: node or oidc-provider is not installed")
    sys.exit(77)
guarded(main, "api/openid")
