import { createHmac } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { DAY } from "../../../src/domain/time.ts";
import {
  OutboundFailure,
  type Outbound,
  type OutboundRequest,
  type OutboundResponse,
} from "../../../src/ports/outbound.ts";
import { FakeFilms } from "./fake-films.ts";
import { check, GraphError, paged, showTime, toResponse, UploadError, type Asked } from "./fake-http.ts";
import { answerOfPortfolio, answerPeople, FakePeople, type Holder } from "./fake-people.ts";
import { FakePosts, showStory } from "./fake-posts.ts";
import { APP, PAGE_ID, read, wrongFields } from "./spec.ts";

/** The Graph API, its dialog's tokens and its hosts for files, as one in-process door. */
export class FakeFacebook implements Outbound {
  readonly people: FakePeople;
  readonly posts: FakePosts;
  readonly films: FakeFilms;
  /** Method and path of each request. */
  readonly log: string[] = [];
  readonly asked: Asked[] = [];
  /** What no real one would take. */
  readonly wrong: string[] = [];
  /** Breaks the next upload off after so many bytes. */
  cutAfter: number | null = null;
  /** Whether the Page keeps its stories, without which none is listed. */
  hasArchive = true;
  /** Answers the request to this path instead of the API: a refusal, or null to go on. */
  answers: ((asked: Asked) => OutboundResponse | null) | null = null;
  readonly now: () => number;
  #ids = 0;

  constructor(now: () => number) {
    this.now = now;
    const newId = (): string => String(122_100_000_000_000_000n + BigInt(++this.#ids));
    this.people = new FakePeople(now);
    this.posts = new FakePosts(PAGE_ID, now, newId);
    this.films = new FakeFilms(now, newId);
    this.newId = newId;
  }

  readonly newId: () => string;

  /** What everybody can see. */
  visible(): string[] {
    const posts = [...this.posts.posts.values()].filter((post) => this.posts.isVisible(post));
    const films = [...this.films.films.values()].filter((film) => this.films.isVisible(film));
    const stories = [...this.posts.stories.keys()].map(() => "");
    return [...posts.map(({ message }) => message), ...stories, ...films.map((film) => film.description)];
  }

  assertAllowed(_field: string, url: string): URL {
    return new URL(url);
  }

  async request(request: OutboundRequest): Promise<OutboundResponse> {
    const sent = request.body ?? "";
    let body = sent instanceof Readable ? await buffer(sent) : Buffer.from(sent);
    const isCut = this.cutAfter !== null && request.headers?.["content-type"] === "application/octet-stream";
    if (isCut) body = body.subarray(0, this.cutAfter ?? 0);
    const path = new URL(request.url).pathname.replace(/^\/v\d+\.\d+\//, "/").slice(1);
    const asked = await this.#read(request, body, path);
    this.log.push(`${asked.method} ${path}`);
    this.asked.push(asked);
    const instead = this.answers?.(asked) ?? null;
    if (instead !== null) return instead;
    try {
      const answer = this.#answer(asked, path);
      return toResponse(200, answer, { "x-app-usage": '{"call_count":1}' });
    } catch (error) {
      if (isCut) {
        this.cutAfter = null;
        throw new OutboundFailure("The connection broke off.", true);
      }
      if (error instanceof GraphError || error instanceof UploadError)
        return toResponse(error.status, error.body);
      throw error;
    }
  }

  /** By the description, where one is of that kind of node or edge. */
  async #read(
    { method, url: address, headers = {} }: OutboundRequest,
    body: Buffer,
    path: string,
  ): Promise<Asked> {
    const url = new URL(address);
    const edge = this.#edgeOf(path);
    const described =
      edge === null
        ? null
        : await read({ method, headers, body, url: `graph:${edge}${url.search}` }, "graph:");
    const asked = { method, url, headers, body };
    if (typeof described === "string") this.wrong.push(described);
    if (described === null || typeof described === "string")
      return { ...asked, given: Object.fromEntries(url.searchParams), wrong: described };
    const entries = Object.entries(described.given).map(async ([name, value]) => [
      name,
      value instanceof File ? Buffer.from(await value.arrayBuffer()) : value,
    ]);
    const given = Object.fromEntries(await Promise.all(entries));
    return { ...asked, given, wrong: wrongFields(described.name, String(given["fields"] ?? "")) };
  }

  /** Of which kind a path is: "page/feed"; null: of none. */
  #edgeOf(path: string): string | null {
    const [id = "", edge] = path.split("/");
    if (id === "me") return `me/${edge}`;
    if (path === `${APP.id}/uploads`) return "app/uploads";
    if (this.people.portfolios.some((one) => one.id === id)) return `business/${edge}`;
    if (this.people.unlisted.some((one) => one.id === id) && edge === undefined) return "me/page";
    const node = this.#nodeOf(id);
    return node === null || edge === undefined ? node : `${node}/${edge}`;
  }

  #answer(asked: Asked, path: string): object {
    const { host, pathname } = asked.url;
    if (host === "rupload.facebook.com") return this.#takeReel(asked);
    // graph-video.facebook.com is given up.
    if (host !== "graph.facebook.com") throw new OutboundFailure(`Nobody is at ${host}.`, false);
    if (!/^\/v\d+\.\d+\//.test(pathname)) throw new GraphError(2_500, "Unknown path components");
    if (path === "oauth/access_token" || path === "debug_token") return this.people.token(path, asked);
    const holder = this.#holder(asked, path.startsWith("upload:") ? "OAuth" : "Bearer");
    if (path.startsWith("upload:") || path === `${APP.id}/uploads`) return this.#file(asked, path, holder);
    if (path.startsWith("me/")) return answerPeople(this.people, asked, path, holder);
    const ofPortfolio = holder.kind === "user" ? answerOfPortfolio(this.people, asked, path) : null;
    if (ofPortfolio !== null) return ofPortfolio;
    if (holder.kind !== "page" || holder.pageId !== PAGE_ID)
      throw new GraphError(200, "This needs the token of the Page", { status: 403 });
    return this.#asPage(asked, path);
  }

  #holder({ headers, given }: Asked, scheme: string): Holder {
    const [named, token = ""] = (headers["authorization"] ?? "").split(" ");
    if (named !== scheme) throw new GraphError(190, "An access token is required", { status: 401 });
    const proof = createHmac("sha256", APP.secret).update(token).digest("hex");
    if (scheme === "Bearer" && given["appsecret_proof"] !== proof)
      throw new GraphError(100, "API calls from the server require an appsecret_proof argument");
    return this.people.holderOf(token);
  }

  #takeReel(asked: Asked): object {
    const holder = this.#holder(asked, "OAuth");
    if (holder.kind !== "page") throw new UploadError("NotAuthorizedError");
    return this.films.takeReel(asked.url.pathname.split("/").at(-1) ?? "", asked);
  }

  #file(asked: Asked, path: string, holder: Holder): object {
    if (holder.kind !== "user") throw new GraphError(200, "This needs the token of a person");
    if (!path.startsWith("upload:")) {
      check(asked);
      return this.films.beginFile(asked);
    }
    if (asked.method === "POST") return this.films.takeFile(path, asked);
    return { id: path, file_offset: this.films.file(path).bytes.length };
  }

  #asPage(asked: Asked, path: string): object {
    const [id = "", edge] = path.split("/");
    const node = this.#nodeOf(id);
    if (node === null) throw new GraphError(100, `Object with ID '${id}' does not exist`, { subcode: 33 });
    check(asked);
    return node === "page" ? this.#page(asked, edge) : this.#object(asked, { node, id, edge });
  }

  #nodeOf(id: string): "page" | "post" | "film" | "photo" | "story" | null {
    if (id === PAGE_ID) return "page";
    if (this.#stories().some((story) => Reflect.get(story, "post_id") === id)) return "story";
    if (this.posts.posts.has(id)) return "post";
    if (this.films.find(id) !== undefined) return "film";
    return this.posts.findPhoto(id) === undefined ? null : "photo";
  }

  #page(asked: Asked, edge: string | undefined): object {
    const { method, given, url } = asked;
    const list = (all: readonly object[]): object => paged(all, given, `${url.host}${url.pathname}`);
    const films = [...this.films.films.values()].reverse();
    const shown = (kind: string): object[] =>
      films
        .filter((film) => film.kind === kind && film.publicAt !== null)
        .map((film) => this.films.show(film));
    switch (`${method} ${edge ?? ""}`) {
      case "POST feed":
        return this.posts.addPost(asked, APP.id);
      case "POST photos":
        return this.posts.addPhoto(asked);
      case "POST videos":
        return this.films.addVideo(asked);
      case "POST video_reels":
        return this.films.reelStep(asked);
      case "POST video_stories":
        return this.films.reelStep(asked, "story");
      case "POST photo_stories":
        return this.posts.addStory(asked);
      case "GET stories":
        return list(this.#stories());
      case "GET published_posts":
        return list(this.posts.list(false).map((post) => this.posts.show(post)));
      case "GET scheduled_posts":
        return list(this.posts.list(true).map((post) => this.posts.show(post)));
      case "GET videos":
        return list(shown("video"));
      case "GET video_reels":
        return list(shown("reel"));
      case "GET insights":
        return this.people.insights(asked);
      default:
        return this.people.page();
    }
  }

  /** The newest first, and one of another day. */
  #stories(): object[] {
    if (!this.hasArchive) return [];
    const now = this.now();
    const films = [...this.films.films.values()].filter(
      (film) => film.kind === "story" && this.films.isVisible(film),
    );
    return [
      ...films.map(({ id, publicAt }) => showStory(id, "video", publicAt ?? now, now)),
      ...[...this.posts.stories].reverse().map(([id, at]) => showStory(id, "photo", at, now)),
      showStory("122099999999999999", "photo", now - 2 * DAY, now),
    ];
  }

  #object(
    asked: Asked,
    at: { node: "post" | "film" | "photo" | "story"; id: string; edge: string | undefined },
  ): object {
    const { node, id, edge } = at;
    const post = this.posts.posts.get(id);
    const film = this.films.find(id);
    const comments = post?.comments ?? film?.comments ?? [];
    if (edge === "comments" && asked.method === "POST") {
      const comment = {
        id: `${id}_${this.newId()}`,
        message: String(asked.given["message"]),
        at: this.now(),
      };
      comments.push(comment);
      return { id: comment.id };
    }
    if (edge === "comments")
      return {
        data: comments.map((one) => ({ id: one.id, message: one.message, created_time: showTime(one.at) })),
      };
    if (edge === "insights" || edge === "video_insights") return this.people.insights(asked);
    if (edge === "collaborators" && film !== undefined) return this.films.invite(film, asked);
    if (edge === "thumbnails" && film !== undefined) {
      film.thumbnail = asked.given["source"] as Buffer;
      return { success: true };
    }
    if (asked.method === "DELETE") {
      if (film !== undefined) film.isDeleted = true;
      this.posts.posts.delete(id);
      this.posts.photos.delete(id);
      this.posts.stories.delete(id);
      return { success: true };
    }
    if (node === "photo") return { id };
    if (asked.method === "POST")
      return post === undefined ? this.#changeFilm(id, asked) : this.posts.change(post, asked, APP.id);
    return post === undefined ? this.#showFilm(id) : this.posts.show(post);
  }

  #changeFilm(id: string, asked: Asked): object {
    const film = this.films.find(id);
    return film === undefined ? {} : this.films.change(film, asked);
  }

  #showFilm(id: string): object {
    const film = this.films.find(id);
    return film === undefined ? {} : this.films.show(film);
  }
}
