import { DAY, SECOND } from "../../../src/domain/time.ts";
import { check, GraphError, paged, showTime, type Asked } from "./fake-http.ts";
import { APP, PAGE_ID } from "./spec.ts";

export type Holder = { readonly kind: "user" } | { readonly kind: "page"; readonly pageId: string };

export interface FakePage {
  readonly id: string;
  readonly name: string;
  readonly username?: string;
  readonly tasks?: readonly string[];
  readonly access_token?: string;
}

/** A business portfolio, and the Pages that it owns or works for. */
export interface FakePortfolio {
  readonly id: string;
  readonly owned?: readonly FakePage[];
  readonly clients?: readonly FakePage[];
}

/** The person who consents, their Pages, and tokens. */
export class FakePeople {
  readonly tokens = new Map<string, Holder & { readonly until: number | null }>();
  readonly codes = new Map<string, string>();
  pages: FakePage[] = [];
  /** Told to those only who gave business_management. */
  portfolios: FakePortfolio[] = [];
  /** In no list, and read by their ids. */
  unlisted: FakePage[] = [];
  /** Pages that the consent names. */
  targetIds: string[] = [];
  granted: string[] = [];
  /** Metrics that are taken away. */
  deadMetrics: string[] = [];
  dataAccessEndsAt = 0;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  give(token: string, holder: Holder, days: number | null = null): string {
    this.tokens.set(token, { ...holder, until: days === null ? null : this.#now() + days * DAY });
    return token;
  }

  holderOf(token: string): Holder {
    const holder = this.tokens.get(token);
    if (holder === undefined) throw new GraphError(190, "Invalid OAuth access token.", { status: 401 });
    if (holder.until !== null && holder.until < this.#now())
      throw new GraphError(190, "Session has expired", { status: 401, subcode: 463 });
    return holder;
  }

  /** The code for a token of an hour, and that for one of 60 days. */
  token(path: string, { method, given }: Asked): object {
    if (path === "debug_token") {
      if (given["access_token"] !== `${APP.id}|${APP.secret}`) throw new GraphError(190, "Bad app token");
      this.holderOf(String(given["input_token"]));
      const scopes = this.granted.map((scope) => ({
        scope,
        ...(scope.startsWith("pages_") && this.targetIds.length > 0 ? { target_ids: this.targetIds } : {}),
      }));
      return {
        data: {
          is_valid: true,
          expires_at: 0,
          data_access_expires_at: this.dataAccessEndsAt / SECOND,
          granular_scopes: scopes,
        },
      };
    }
    if (method !== "GET") throw new GraphError(100, "Unsupported method");
    if (given["client_id"] !== APP.id) throw new GraphError(101, "Error validating application.");
    if (given["client_secret"] !== APP.secret) throw new GraphError(1, "Error validating client secret.");
    if (given["grant_type"] === "fb_exchange_token") {
      const short = String(given["fb_exchange_token"]);
      this.holderOf(short);
      const token = this.give(`long-${short}`, { kind: "user" }, 60);
      return { access_token: token, token_type: "bearer", expires_in: 5_184_000 };
    }
    const code = String(given["code"]);
    const redirect = this.codes.get(code);
    this.codes.delete(code);
    if (redirect === undefined || redirect !== given["redirect_uri"])
      throw new GraphError(100, "This authorization code has been used.", { subcode: 36_009 });
    const token = this.give(`short-${code}`, { kind: "user" }, 0.05);
    return { access_token: token, token_type: "bearer", expires_in: 4_320 };
  }

  page(): object {
    return {
      id: PAGE_ID,
      name: "The Horn",
      username: "thehorn",
      is_published: true,
      followers_count: 77,
      picture: { data: { url: "https://scontent.example/horn.jpg" } },
    };
  }

  insights({ given }: Asked): object {
    const names = String(given["metric"]).split(",");
    if (names.some((name) => this.deadMetrics.includes(name)))
      throw new GraphError(100, "The value must be a valid insights metric");
    const since = Number(given["since"]) * SECOND;
    const until = Number(given["until"]) * SECOND;
    if (until - since > 93 * DAY) throw new GraphError(100, "There cannot be more than 93 days between");
    const isDaily = given["period"] === "day" && !Number.isNaN(since);
    const days = isDaily ? Math.floor((until - since) / DAY) : 1;
    // Days end at midnight in California.
    const valueOf = (day: number) => ({
      value: 5,
      end_time: showTime(since + day * DAY + 8 * 60 * 60 * SECOND),
    });
    const values = Array.from({ length: days }, (_, day) => (isDaily ? valueOf(day) : { value: 9 }));
    const actions = [{ value: { COMMENT: 4, SHARE: 6 } }];
    return {
      data: names.map((name) => ({
        name,
        period: isDaily ? "day" : "lifetime",
        values: name === "post_video_social_actions" ? actions : values,
        id: `x/${name}`,
      })),
    };
  }
}

/** What is asked of the person. */
export function answerPeople(people: FakePeople, asked: Asked, path: string, holder: Holder): object {
  if (holder.kind !== "user") throw new GraphError(200, "This needs the token of a person");
  const { method, given, url } = asked;
  const [, edge = "", name] = path.split("/");
  check(asked);
  const list = (all: readonly object[]): object => paged(all, given, `${url.host}${url.pathname}`);
  if (edge === "accounts") return list(people.pages);
  if (edge === "businesses") {
    assertGranted(people, "business_management");
    return list(people.portfolios.map(({ id }) => ({ id })));
  }
  if (method === "GET")
    return { data: people.granted.map((permission) => ({ permission, status: "granted" })) };
  people.granted = people.granted.filter((one) => name !== undefined && one !== name);
  return { success: true };
}

function assertGranted({ granted }: FakePeople, scope: string): void {
  if (!granted.includes(scope)) throw new GraphError(200, `Requires ${scope}`, { status: 403 });
}

/** What a person's token is told of a portfolio, or of a Page; null: of neither. */
export function answerOfPortfolio(people: FakePeople, asked: Asked, path: string): object | null {
  const { given, url } = asked;
  const [id, edge = ""] = path.split("/");
  const portfolio = people.portfolios.find((one) => one.id === id);
  const page = people.unlisted.find((one) => one.id === id);
  if (portfolio === undefined && (page === undefined || edge !== "")) return null;
  check(asked);
  if (portfolio === undefined) return page ?? null;
  assertGranted(people, "business_management");
  const pages = edge === "owned_pages" ? portfolio.owned : portfolio.clients;
  // Tasks are told by me/accounts only.
  const shown = (pages ?? []).map(({ tasks: _tasks, ...one }) => one);
  return paged(shown, given, `${url.host}${url.pathname}`);
}
