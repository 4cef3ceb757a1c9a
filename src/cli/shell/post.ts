import * as z from "zod";
import { AppError } from "../../domain/errors.ts";
import { BatchResult } from "../../domain/posts/post.ts";
import { toIso } from "../../domain/time.ts";
import { listAccounts, findChannel, sayChannels } from "../../channels/accounts/accounts.ts";
import { withoutOldWaits } from "../../posts/outcomes.ts";
import { REFUSED_WITH_OTHERS } from "../../posts/schedule-post.ts";
import { type CommandArgs, JSON_TOO, many, type Row, row } from "../command.ts";
import { toJsonText } from "../options.ts";
import { alwaysAsked, sendDue, whyNotOut } from "./outcomes.ts";
import { bringMedia, CONTENT, readMetadata, readText } from "./content.ts";
import { inShell, type Shell } from "./shell.ts";
import { showPosts, showPreview, showWarnings } from "./views.ts";
import { readWhen, WHEN_HELP } from "../../domain/arguments/spoken-times.ts";

const POST = {
  "[text]": "what it says, or - to read that from standard input",
  "--on <channel>": many("name, handle, id or platform of a channel (may be repeated)"),
  "--at <when>": 'when, such as "tomorrow 9:00" or "next slot" (default: now)',
  ...CONTENT,
  "--dry-run": "only check it, and show every warning and what the channel will show",
  "--json": JSON_TOO,
} as const;

type Posting = CommandArgs<typeof POST>;

export const POSTING: Row = row({
  name: "post",
  about: "post now or later, on one channel or several",
  takes: POST,
  help: `
Times are in this machine's time zone, or in POSTHORN_TIMEZONE. Without --at the command waits up to 8 seconds for the
post to be out, and ends with status 1 if it is not: it tells then why, and until when. On several channels the post is scheduled on all of them or on none.

Examples:
  posthorn post "Hello" --on bluesky
  posthorn post "Look" --on "My feed" --at "friday 18:30" --media lake.jpg --alt "A lake at dawn"
  posthorn post "News" --on bluesky --on @alice@example.social --at 2026-12-01T09:00:00+01:00
  posthorn post - --on news --title "A title" --set visibility=unlisted --set 'tags=["a","b"]' < text.txt
  ${WHEN_HELP}`,
  async run(given, host) {
    const caption = await readText(host, given.text);
    if ((caption === undefined || caption === "") && given.media.length === 0)
      throw new AppError(
        "invalid",
        'There is nothing to post. Give a text, for example posthorn post "Hello" --on NAME, or --media.',
      );
    await inShell(host, given.json, (at) => post(at, given, caption));
  },
});

async function post(at: Shell, given: Posting, caption: string | undefined): Promise<void> {
  const results = await schedule(at, given, caption);
  const planned = results.flatMap((result) => result.post ?? []);
  const ended = given.dryRun === true ? [] : await sendDue(at, planned);
  const posts = planned.map((one) => ended.find(({ id }) => id === one.id) ?? one);
  const said = [...new Set(results.flatMap((result) => result.warnings))];
  const warnings = ended.length === 0 ? said : withoutOldWaits(said, ended);
  const previews = results.flatMap(({ preview }) => preview ?? []);
  const isDry = given.dryRun === true;
  at.terminal.print(
    at.isRead
      ? [
          ...(isDry ? ["Nothing is scheduled. This is how it would be:\n"] : []),
          await showPosts(at.ctx, posts, at.terminal),
          ...previews.map((preview, index) => showPreview(preview, posts[index]?.provider ?? "")),
          showWarnings(at, warnings),
        ].join("")
      : toJsonText({ posts, warnings, ...(isDry && { previews }) }),
  );
  at.host.stopSignal.throwIfAborted();
  const trouble = await whyNotOut(at, ended, given.json);
  if (trouble !== null) throw new AppError("unavailable", trouble);
}

/** What `--at` says for it: see the command `slots`. */
const NEXT_SLOT = "next slot";

async function schedule(
  at: Shell,
  given: Posting,
  caption: string | undefined,
): Promise<readonly BatchResult[]> {
  const { accounts } = await listAccounts(at.call);
  if (given.on.length === 0)
    throw new AppError("invalid", `--on: say which channel. ${sayChannels(at.ctx, accounts)}`);
  const accountIds = new Set(
    given.on.map((wanted) => findChannel(at.ctx, accounts, { wanted, field: "--on" }).id),
  );
  const isInSlot = given.at?.trim().toLowerCase() === NEXT_SLOT;
  const now = at.now();
  const when = given.at === undefined || isInSlot ? null : readWhen(given.at, now);
  await using media = await bringMedia(at, given.media);
  const content = {
    ...(caption !== undefined && { caption }),
    ...(isInSlot ? { slot: "next" } : { scheduledAt: when ?? toIso(now.now) }),
    ...(given.dryRun === true && { dryRun: true }),
    ...readMetadata(given, media.urls),
  };
  const posts = [...accountIds].map((accountId) => ({ accountId, ...content }));
  const answer = await at.use("schedule_posts", { posts, atomic: true }, alwaysAsked(at));
  const { results } = z.object({ results: z.array(BatchResult) }).parse(answer);
  assertPlanned(results, at.words);
  if (given.dryRun !== true) media.keep();
  return results;
}

/** Throws `invalid` with each reason why something was not planned. */
function assertPlanned(results: readonly BatchResult[], inWords: (text: string) => string): void {
  const errors = results.flatMap(({ error }) => error ?? []);
  const own = errors.filter((error) => !error.startsWith(REFUSED_WITH_OTHERS));
  if (errors.length > 0) throw new AppError("invalid", [...new Set(own.map(inWords))].join("\n"));
}
