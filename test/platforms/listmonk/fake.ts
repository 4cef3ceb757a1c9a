import { OutboundFailure, type Outbound, type OutboundResponse } from "../../../src/ports/outbound.ts";
import { textOfHtml } from "../../../src/domain/text/html-text.ts";
import { answerOf, type Described, describedBy } from "../../support/described.ts";

export const SITE = "https://mail.example";
export const USER = "posthorn";
export const TOKEN = "Qx7vR2mK9pL4sT6w";

const read = describedBy(new URL("./spec.json", import.meta.url));

export interface FakeCampaign {
  readonly id: number;
  readonly uuid: string;
  status: "draft" | "scheduled" | "running" | "paused" | "finished" | "cancelled";
  /** How often it was started: each time, the subscribers of its lists get it. */
  starts: number;
  name: string;
  subject: string;
  body: string;
  content_type: string;
  lists: number[];
  [field: string]: unknown;
}

export const refusal = (status: number, message: string): OutboundResponse => answerOf(status, { message });

const LISTS = [
  { id: 1, name: "News" },
  { id: 3, name: "Horns" },
];

/** A Listmonk site behind the outbound client. `wrong`: what its description does not know of a request. */
export function createFakeListmonk() {
  const campaigns = new Map<number, FakeCampaign>();
  const wrong: string[] = [];
  const calls: string[] = [];
  /** Lists that the API user may use, and whether it may start campaigns. */
  const state = { permitted: [1, 3], maySend: true };
  const files: string[] = [];

  const listsOf = (ids: readonly number[]) => LISTS.filter(({ id }) => ids.includes(id));
  const show = (one: FakeCampaign, query?: URLSearchParams): object => ({
    ...one,
    body: query?.get("no_body") === "true" ? "" : one.body,
    lists: listsOf(one.lists),
    starts: undefined,
    views: 12,
    clicks: 4,
    bounces: 0,
    sent: 40,
    to_send: 40,
  });
  const missing = (): OutboundResponse => refusal(400, "Campaign not found");

  const save = (one: FakeCampaign, { lists = one.lists, ...fields }: any): OutboundResponse => {
    const permitted = lists.filter((id: number) => state.permitted.includes(id));
    const next = { ...one, ...fields, lists: permitted };
    if (permitted.length === 0) return refusal(400, "Invalid list IDs.");
    if (/\{\{[^}]*$/.test(next.body)) return refusal(400, "Error compiling campaign body: unclosed action");
    // Without a body, Listmonk takes that of the template.
    if (next.body === "") next.body = "TEMPLATE";
    campaigns.set(one.id, next);
    return answerOf(200, { data: show(next) });
  };

  const setStatus = (one: FakeCampaign, status: FakeCampaign["status"]): OutboundResponse => {
    if (!state.maySend) return refusal(403, "permission denied: campaigns:send");
    if (status === "running") {
      if (one.status !== "draft" && one.status !== "paused")
        return refusal(400, "Only paused campaigns and drafts can be started.");
      one.starts += 1;
    }
    one.status = status;
    return answerOf(200, { data: show(one) });
  };

  const serve = ({ name, id, query, body }: Described): OutboundResponse => {
    const found = campaigns.get(Number(id));
    switch (name) {
      case "GET /lists":
        return answerOf(200, { data: { results: listsOf(state.permitted), total: 2, page: 1, per_page: 2 } });
      case "GET /templates":
        return answerOf(200, {
          data: [
            { id: 1, name: "Default", type: "campaign" },
            { id: 2, name: "Receipt", type: "tx" },
          ],
        });
      case "POST /media": {
        files.push(`${SITE}/uploads/image_${files.length + 1}.jpg`);
        return answerOf(200, { data: { id: files.length, uuid: "u", url: files.at(-1) } });
      }
      case "GET /campaigns": {
        const words = query.get("query") ?? "";
        const results = [...campaigns.values()].filter((one) => `${one.name} ${one.subject}`.includes(words));
        return answerOf(200, { data: { results: results.map((one) => show(one, query)), query: words } });
      }
      case "POST /campaigns": {
        const one: FakeCampaign = {
          id: campaigns.size + 1,
          uuid: `57702beb-6fae-4355-a324-c2fd5b59a54${campaigns.size}`,
          status: "draft",
          starts: 0,
          name: "",
          subject: "",
          body: "",
          content_type: "richtext",
          lists: [],
          archive: false,
        };
        return save(one, body);
      }
      case "GET /campaigns/{id}":
        return found === undefined ? missing() : answerOf(200, { data: show(found, query) });
      case "PUT /campaigns/{id}":
        if (found === undefined) return missing();
        return found.status === "draft"
          ? save(found, body)
          : refusal(400, "Cannot update a running or a finished campaign.");
      default:
        return found === undefined ? missing() : setStatus(found, body.status);
    }
  };

  const door: Outbound = {
    assertAllowed: (_field, url) => new URL(url),
    request: async (request) => {
      if (!request.url.startsWith(`${SITE}/api/`))
        throw new OutboundFailure(`Nobody is at ${request.url}.`, false);
      const asked = await read(request, `${SITE}/api`);
      if (typeof asked === "string") {
        wrong.push(asked);
        return refusal(404, asked);
      }
      calls.push(asked.name);
      return request.headers?.["authorization"] === `token ${USER}:${TOKEN}`
        ? serve(asked)
        : refusal(403, "invalid API credentials");
    },
  };
  return {
    door,
    state,
    wrong,
    calls,
    campaigns,
    files,
    /** What subscribers got, as often as they got it. */
    sent: () => [...campaigns.values()].flatMap((one) => Array.from({ length: one.starts }, () => one)),
  };
}

/** What a subscriber reads: the site's templates give what stands in quotes. */
export const compiled = (text: string): string => text.replace(/\{\{ "(.*?)" \}\}/g, "$1");

export function textOf({ body, content_type: type }: FakeCampaign): string {
  const text = compiled(body).replace(/<p><img [^>]*><\/p>\n*/g, "");
  return (type === "html" ? textOfHtml(text) : text).replace(/\n$/, "");
}
