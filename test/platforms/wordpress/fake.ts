import {
  OutboundFailure,
  type Outbound,
  type OutboundRequest,
  type OutboundResponse,
} from "../../../src/ports/outbound.ts";
import { createLibrary, type FakeFile, type FakePost } from "./library.ts";
import { receive, refuse } from "./requests.ts";
import { answerOf, type Described } from "../../support/described.ts";

export const SITE = "https://blog.example";
export const USER = { username: "alice", appPassword: "abcdEFGH1234ijklMNOP5678" };

interface Options {
  readonly now: () => number;
  /** False: without pretty permalinks, so without /wp-json. */
  readonly isPretty?: boolean;
  /** WP-Cron runs when the site is looked at; asleep, where nothing wakes it. */
  readonly cron?: "awake" | "asleep";
  /** The site's clock before the true one. */
  readonly skewMs?: number;
  readonly capabilities?: Readonly<Record<string, boolean>>;
  readonly maxBytes?: number;
  readonly hasTrash?: boolean;
  /** No https, or a plugin. */
  readonly hasPasswords?: boolean;
}

function gmt(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19);
}

function viewPost(post: FakePost) {
  const isOut = post.status === "publish";
  return {
    ...post,
    date_gmt: gmt(post.dateMs),
    modified_gmt: gmt(post.modifiedMs),
    link: isOut ? `${SITE}/${post.slug}/` : `${SITE}/?p=${post.id}`,
    title: { raw: post.title, rendered: post.title },
  };
}

function viewFile({ id, slug, post, name, alt }: FakeFile) {
  return { id, slug, post, alt_text: alt, source_url: `${SITE}/wp-content/uploads/2026/11/${name}` };
}

/**
 * A WordPress site behind the outbound client, as strict as its own description of itself. `wrong`: what that does
 * not know of a request, and what would be seen before it should be.
 */
export function createFakeWordpress(options: Options) {
  const now = () => options.now() + (options.skewMs ?? 0);
  const wrong: string[] = [];
  const seen: Described[] = [];
  const site = createLibrary(now);
  const passwords = new Map([[USER.appPassword, USER.username]]);
  const state = { isDown: false, cron: options.cron ?? "awake", comments: 0 };
  const capabilities = options.capabilities ?? { publish_posts: true, upload_files: true, edit_posts: true };

  const pathOf = (url: URL): string | null => {
    const route = url.searchParams.get("rest_route");
    if (url.pathname === "/" && route !== null) return route;
    if (options.isPretty === false || !url.pathname.startsWith("/wp-json/")) return null;
    return url.pathname.slice("/wp-json".length);
  };

  const root = () => ({
    name: "The horn",
    home: SITE,
    namespaces: ["oembed/1.0", "wp/v2"],
    authentication:
      options.hasPasswords === false
        ? []
        : {
            "application-passwords": {
              endpoints: { authorization: `${SITE}/wp-admin/authorize-application.php` },
            },
          },
  });

  const me = () => ({
    id: 3,
    name: "Alice A.",
    username: "alice",
    link: `${SITE}/author/alice/`,
    avatar_urls: { "24": `${SITE}/24.png`, "96": `${SITE}/96.png` },
    capabilities,
  });

  const isUser = ({ headers }: OutboundRequest): boolean => {
    const given = new Headers(headers).get("authorization") ?? "";
    const [name = "", password = ""] = Buffer.from(given.replace("Basic ", ""), "base64")
      .toString()
      .split(":");
    return passwords.get(password) === name;
  };

  const serve = async (request: Described): Promise<OutboundResponse> => {
    const { name, id, given } = request;
    const post = site.posts.find((one) => one.id === Number(id));
    const list = (all: readonly object[]) => {
      const size = given["per_page"] ?? 10;
      return answerOf(200, all.slice(0, size), { "x-wp-total": String(all.length) });
    };
    const named = <T extends { name: string; id: number }>(all: readonly T[]) =>
      all.filter(
        (one) =>
          one.name.toLowerCase().includes((given["search"] ?? "").toLowerCase()) &&
          (given["include"]?.includes(one.id) ?? true),
      );
    if (name.endsWith("{id}") && post === undefined) return refuse(404, "rest_post_invalid_id");
    const isPublishing = ["publish", "future"].includes(given["status"]);
    if (isPublishing && capabilities["publish_posts"] !== true) return refuse(403, "rest_cannot_publish");
    switch (name) {
      case "GET /wp/v2/users/me":
        return answerOf(200, me());
      case "GET /wp/v2/posts": {
        const states: string[] = given["status"] ?? ["publish"];
        return list(
          site.posts
            .filter((one) => states.includes(one.status) && (given["slug"]?.includes(one.slug) ?? true))
            .map(viewPost),
        );
      }
      case "POST /wp/v2/posts":
        if (site.posts.some(({ slug }) => slug === given["slug"])) wrong.push("a second post of one slug");
        return answerOf(201, viewPost(site.create(request)));
      case "GET /wp/v2/posts/{id}":
        return answerOf(200, viewPost(post!));
      case "POST /wp/v2/posts/{id}":
        return answerOf(200, viewPost(site.write(post!, request)));
      case "DELETE /wp/v2/posts/{id}":
        if (given["force"] === true) site.posts.splice(site.posts.indexOf(post!), 1);
        else if (options.hasTrash === false) return refuse(501, "rest_trash_not_supported");
        else if (post!.status === "trash") return refuse(410, "rest_already_trashed");
        else site.trash(post!);
        return answerOf(200, viewPost(post!));
      case "GET /wp/v2/media": {
        const parents: number[] | undefined = given["parent"];
        const slugs: string[] | undefined = given["slug"];
        return list(
          site.files
            .filter((one) => (parents?.includes(one.post) ?? true) && (slugs?.includes(one.slug) ?? true))
            .map(viewFile),
        );
      }
      case "POST /wp/v2/media": {
        const parent = site.posts.find((one) => one.id === given["post"]);
        // What belongs to no draft, everybody can list.
        if (parent === undefined) wrong.push("a file that everybody can see at once");
        if (site.files.some(({ slug }) => slug === given["slug"])) wrong.push("a second file of one slug");
        const stored = await site.upload(request, options.maxBytes ?? Infinity);
        return "status" in stored ? stored : answerOf(201, viewFile(stored));
      }
      case "POST /wp/v2/tags": {
        const { id: termId, isNew } = site.tag(given["name"]);
        if (!isNew) return refuse(400, "term_exists", { term_id: termId });
        return answerOf(201, { id: termId, name: given["name"] });
      }
      case "GET /wp/v2/tags":
        return list(named(site.tags));
      case "GET /wp/v2/categories":
        return list(named(site.categories));
      default:
        return list(Array.from({ length: state.comments }, (_one, at) => ({ id: at + 1 })));
    }
  };

  const handle = async (request: OutboundRequest): Promise<OutboundResponse> => {
    const url = new URL(request.url);
    if (url.origin !== SITE) throw new OutboundFailure(`Nobody is at ${url.origin}.`, false);
    if (state.isDown) return answerOf(503, "<h1>Briefly unavailable for scheduled maintenance</h1>");
    const path = pathOf(url);
    if (path === null) return answerOf(404, "<!DOCTYPE html><title>Page not found</title>");
    if (path === "/") return answerOf(200, root());
    const received = await receive(request, SITE, path);
    if (typeof received === "string") {
      wrong.push(received);
      return refuse(404, "rest_no_route");
    }
    seen.push(received);
    if (request.method === "POST" && request.newConnection !== true && !isRepeatable(received.name))
      wrong.push(`${received.name}: on a kept connection`);
    if (!isUser(request)) return refuse(401, "incorrect_password");
    const answered = await serve(received);
    if (state.cron === "awake") site.runCron();
    return answered;
  };

  const outbound: Outbound = { request: handle, assertAllowed: (_field, url) => new URL(url) };
  return {
    door: outbound,
    site,
    state,
    seen,
    wrong,
    passwords,
    count: (operation: string) => seen.filter(({ name }) => name === operation).length,
    /** Its page, where the person agrees; what the browser comes back with. */
    approve(address: string, isApproved = true): Record<string, string> {
      const page = new URL(address);
      if (page.origin + page.pathname !== `${SITE}/wp-admin/authorize-application.php`)
        throw new Error(`That is not the site's page: ${address}`);
      const back = new URL(page.searchParams.get("success_url") ?? "");
      if (back.protocol !== "https:")
        throw new Error("The redirect must be served over a secure connection.");
      if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(page.searchParams.get("app_id") ?? ""))
        throw new Error("The application ID must be a UUID.");
      if (!isApproved) back.searchParams.set("success", "false");
      else {
        passwords.set("freshPASSWORDfreshPASSWO", "alice");
        back.searchParams.set("site_url", SITE);
        back.searchParams.set("user_login", "alice");
        back.searchParams.set("password", "freshPASSWORDfreshPASSWO");
      }
      return Object.fromEntries(back.searchParams);
    },
  };
}

/** Changes that are told twice without harm. */
function isRepeatable(name: string): boolean {
  return name === "POST /wp/v2/posts/{id}" || name === "POST /wp/v2/tags";
}

export type FakeWordpress = ReturnType<typeof createFakeWordpress>;
