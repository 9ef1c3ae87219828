// A sound node-oidc-provider with resource indicators, JWT access tokens, rotation, revocation, introspection and
// registration. Its folder of modules and its port come on the command line.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, port] = process.argv.slice(2);
const found = createRequire(`${modules}/`).resolve("oidc-provider");
const { default: Provider, errors } = await import(pathToFileURL(found).href);

const issuer = `http://127.0.0.1:${port}`;
const resource = "https://mcp.example.com/mcp";
const scopes = ["invoices:read", "invoices:write"];
const redirect_uris = ["http://127.0.0.1:8765/callback"];
const native = {
  application_type: "native",
  redirect_uris,
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
};

const provider = new Provider(issuer, {
  clients: [
    { ...native, client_id: "desktop-app" },
    { ...native, client_id: "other-app" },
    {
      ...native,
      client_id: "web-app",
      client_secret: "web-app-secret-0123456789abcdef",
      grant_types: ["authorization_code", "refresh_token", "client_credentials"],
      token_endpoint_auth_method: "client_secret_basic",
    },
  ],
  scopes: ["openid", "offline_access", ...scopes],
  pkce: { required: () => true },
  rotateRefreshToken: (ctx) => ctx.oidc.client.clientAuthMethod === "none",
  issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed("refresh_token"),
  responseTypes: ["code"],

  extraClientMetadata: {
    properties: ["redirects_checked"],
    validator: (_ctx, _key, _value, metadata) => {
      // MCP wants https or loopback of web clients too.
      const plain = (uri) => uri.startsWith("http://") && !/^http:\/\/(127\.0\.0\.1|localhost)[:/]/.test(uri);
      if (Array.isArray(metadata.redirect_uris) && metadata.redirect_uris.some(plain)) throw new errors.InvalidRedirectUri("http is for loopback alone");
    },
  },
  cookies: { keys: ["not-a-secret"] },
  features: {
    devInteractions: { enabled: true },
    clientCredentials: { enabled: true },
    revocation: { enabled: true },
    introspection: { enabled: true, allowedPolicy: async () => true },
    registration: { enabled: true },
    registrationManagement: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: (_ctx, asked) => {
        if (asked !== resource) throw new errors.InvalidTarget();
        return { scope: scopes.join(" "), audience: resource, accessTokenFormat: "jwt" };
      },
    },
  },
});

provider.use(async (ctx, next) => {
  ctx.set("content-security-policy", "frame-ancestors 'none'");
  await next();
  ctx.set("content-security-policy", "frame-ancestors 'none'");
});

provider.listen(Number(port), "127.0.0.1", () => console.log(issuer));
