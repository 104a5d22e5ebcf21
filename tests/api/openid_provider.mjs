// A certified OpenID Connect provider (npm's oidc-provider) on loopback, for tests: it believes
// every name that is typed, and answers with the claims in PEOPLE.
//
//   node tests/api/openid_provider.mjs --redirect URL [--redirect URL…] [--alg RS256|ES256] [--logout URL]
//
// With --logout, it sends a logout token there when somebody signs out at /session/end.
//
// Prints one line of JSON, {"issuer": …}, once it answers; ends when its standard input does.
// Clients: "public" (PKCE alone) and "secret" (client_secret_basic, with a secret that has to be
// escaped).
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { parseArgs } from "node:util";

import Provider from "oidc-provider";

const { values: options } = parseArgs({
  options: {
    redirect: { type: "string", multiple: true },
    alg: { type: "string", default: "RS256" },
    logout: { type: "string" },
  },
});

const PEOPLE = {
  ana: { name: "Ana Lima", email: "ana@example.com", groups: ["everybody", "gpu-admins"] },
  nina: { name: "Nina Berg", email: "nina@example.com", groups: ["team-nlp", "team-vision"] },
  admin: { name: "Not the admin", email: "not@example.com", groups: ["gpu-admins"] },
  mallory: { name: "Mallory", email: "mallory@example.com", groups: ["everybody"] },
  "o'neil": { name: "Odd", email: "odd@example.com", groups: ["team-nlp"] },
};

function key(kind, about) {
  const { privateKey } = kind === "RSA"
    ? generateKeyPairSync("rsa", { modulusLength: 2048 })
    : generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...privateKey.export({ format: "jwk" }), use: "sig", ...about };
}

const common = {
  redirect_uris: options.redirect,
  grant_types: ["authorization_code"],
  response_types: ["code"],
  id_token_signed_response_alg: options.alg,
  scope: "openid profile email groups",
  ...(options.logout ? { backchannel_logout_uri: options.logout } : {}),
};

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [
      { ...common, client_id: "public", token_endpoint_auth_method: "none" },
      { ...common, client_id: "secret", client_secret: "s3cr:et +/%&" },
    ],
    clientAuthMethods: ["client_secret_basic", "none"],
    cookies: { keys: ["only for tests"] },
    jwks: { keys: [key("RSA", { kid: "rsa", alg: "RS256" }), key("EC", { kid: "ec", alg: "ES256" })] },
    scopes: ["openid", "profile", "email", "groups"],
    claims: {
      openid: ["sub"],
      profile: ["name", "preferred_username"],
      email: ["email", "email_verified"],
      groups: ["groups"],
    },
    features: { backchannelLogout: { enabled: true } },
    pkce: { required: () => true, methods: ["S256"] },
    async findAccount(context, id) {
      const about = PEOPLE[id];
      if (!about) return undefined;
      return {
        accountId: id,
        async claims() {
          // Its logout tokens name the account, whatever the claims say.
          const sub = options.logout ? id : `subject-of-${id}`;
          return { sub, preferred_username: id, email_verified: true, ...about };
        },
      };
    },
    ttl: { Session: 600, Interaction: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
  });
  server.on("request", provider.callback());
  process.stdout.write(`${JSON.stringify({ issuer })}\n`);
});
process.stdin.on("end", () => process.exit(0)).resume();
