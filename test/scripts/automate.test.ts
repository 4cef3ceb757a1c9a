import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signedHeaders } from "../../src/domain/webhooks/standard-webhooks.ts";
import { startService, type Service } from "../support/service.ts";

const FILE = join(import.meta.dirname, "..", "..", "docs", "automate", "n8n-workflow.json");
const { nodes, connections } = JSON.parse(readFileSync(FILE, "utf8"));

const nodeOf = (name: string): any => nodes.find((node: any) => node.name === name);

/** What n8n makes of a parameter: `=` begins one with expressions in `{{ }}`. */
function evaluate(parameter: string, values: Readonly<Record<string, unknown>>): unknown {
  if (!parameter.startsWith("=")) return parameter;
  const parts = [...parameter.slice(1).matchAll(/\{\{(.*?)\}\}|([^{]+|\{)/gs)].map(([, code, text = ""]) =>
    code === undefined
      ? text
      : (new Function(...Object.keys(values), `return ${code}`)(...Object.values(values)) as unknown),
  );
  return parts.length === 1 ? parts[0] : parts.join("");
}

/** What comes into each request, as the node before it gives it. */
const INCOMING: Readonly<Record<string, unknown>> = {
  "Schedule it": {
    body: { accountId: "feed", caption: "Hello", scheduledAt: "2027-01-31T09:00" },
  },
  "Draft it": { title: "Alps", link: "https://example.com/alps", guid: "alps" },
};

describe("the workflow for n8n", () => {
  let service: Service;
  let description: any;

  beforeAll(async () => {
    service = await startService();
    await service.addFeed();
    description = (await service.ask("GET /api/v1/openapi.json")).json;
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  const requests = nodes.filter(({ type }: any) => type === "n8n-nodes-base.httpRequest");

  it("sends what the OpenAPI description takes", () => {
    expect(requests.map(({ name }: any) => name)).toEqual(Object.keys(INCOMING));
    const ajv = formats.default(new Ajv2020({ strict: false }));
    ajv.addSchema(description, "api");
    for (const { name, parameters } of requests) {
      const { pathname, origin } = new URL(parameters.url);
      expect(origin).toBe("http://127.0.0.1:4747");
      const method = parameters.method.toLowerCase();
      expect(description.paths[pathname]?.[method], `${method} ${pathname}`).toBeDefined();
      const body = JSON.parse(evaluate(parameters.jsonBody, { $json: INCOMING[name] }) as string);
      const path = pathname.replaceAll("/", "~1");
      const check = ajv.getSchema(
        `api#/paths/${path}/${method}/requestBody/content/application~1json/schema`,
      )!;
      expect([name, check(body), check.errors]).toEqual([name, true, null]);
    }
  });

  it("gives each request a key, so that a repeat makes no second post", () => {
    for (const { parameters } of requests) {
      const [{ name, value }] = parameters.headerParameters.parameters;
      expect(name).toBe("Idempotency-Key");
      expect(value).toMatch(/^=.*\{\{ .* \}\}$/);
    }
  });

  it("asks for the key in a credential, and holds none", () => {
    for (const { parameters, credentials } of requests) {
      expect(parameters.genericAuthType).toBe("httpHeaderAuth");
      expect(Object.keys(credentials)).toEqual(["httpHeaderAuth"]);
    }
    expect(JSON.stringify(nodes)).not.toMatch(/phk_|whsec_|Bearer/);
  });

  it("lets nothing of an event through that is not signed, or old", () => {
    const { parameters } = nodeOf("Sign it");
    const body = '{"type":"post.published"}';
    const secret = parameters.secret as string;
    expect(secret.length).toBeGreaterThanOrEqual(24);
    const message = { id: "evt_1", sentAt: Date.now(), body };
    const headers = signedHeaders(message, `whsec_${Buffer.from(secret).toString("base64")}`);
    const from = (given: object) => () => ({ item: { json: { headers: given } } });
    const text = evaluate(parameters.value, { $: from(headers), $json: { raw: body } }) as string;
    const hmac = createHmac("sha256", secret).update(text).digest("base64");
    const conditions: any[] = nodeOf("Is it signed?").parameters.conditions.conditions;
    const passes = (given: object, signature: string): boolean =>
      conditions.every(
        ({ leftValue }) => evaluate(leftValue, { $: from(given), $json: { signature } }) === true,
      );
    expect(passes(headers, hmac)).toBe(true);
    expect(passes(headers, `${hmac.slice(1)}A`)).toBe(false);
    expect(passes({ ...headers, "webhook-timestamp": "1700000000" }, hmac)).toBe(false);
    const [yes, no] = connections["Is it signed?"].main.map(([next]: any) => next.node);
    expect([nodeOf(yes), nodeOf(no)].map(({ parameters: { options } }) => options.responseCode)).toEqual([
      204, 401,
    ]);
  });
});

describe("docs/automate.md", () => {
  const page = readFileSync(join(FILE, "..", "..", "automate.md"), "utf8");

  it("checks what Zapier receives as it was signed", () => {
    const [, code = ""] = /```js\n([^]*?)```/.exec(page) ?? [];
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const body = '{"type":"post.failed"}';
    const headers = signedHeaders({ id: "evt_1", sentAt: Date.now(), body }, secret);
    const run = (given: object): unknown =>
      new Function("require", "inputData", `let output; ${code}; return output;`)(() => ({ createHmac }), {
        secret,
        id: headers["webhook-id"],
        time: headers["webhook-timestamp"],
        signature: headers["webhook-signature"],
        body,
        ...given,
      });
    expect(run({})).toEqual([{ type: "post.failed" }]);
    expect(() => run({ body: "{}" })).toThrow("did not come from Posthorn");
  });

  it("names the secret that the workflow has", () => {
    expect(page).toContain(`'${nodeOf("Sign it").parameters.secret}'`);
  });
});
