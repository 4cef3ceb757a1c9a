import { plainText, plural } from "../domain/plain-text.ts";
import { MINUTE, tellTime } from "../domain/time.ts";
import type { PostRow } from "../store/schema/tables.ts";
import type { Reader } from "../store/engine/store.ts";
import type { AccountRow } from "../store/queries/accounts.ts";
import { listWaitingUntil } from "../store/queries/publishing/waiting-posts.ts";
import type { AppContext } from "../context.ts";

/** What becomes of the posts that a channel kept back, once it may be used. */
export interface Release {
  /** They go out, earliest first. */
  readonly goingOut: readonly PostRow[];
  /** They fail. */
  readonly tooLate: readonly PostRow[];
}

/** So many are named. */
const MAX_NAMED = 3;
const MAX_TEXT = 80;

/** Of an account that is paused or without access, as if it were not. `at`: those that are due by then. */
export async function readRelease(
  { clock, settings }: AppContext,
  reader: Reader,
  { id }: Pick<AccountRow, "id">,
  at = clock.now(),
): Promise<Release> {
  const rows = await listWaitingUntil(reader, id, at);
  const since = clock.now() - settings.maxLatenessMs;
  const [goingOut, tooLate] = [true, false].map((isInTime) =>
    rows.filter((row) => row.scheduled_at >= since === isInTime),
  );
  return { goingOut: goingOut ?? [], tooLate: tooLate ?? [] };
}

/** In sentences for people. Null: nothing was kept back. */
export function tellRelease(
  { settings }: AppContext,
  { goingOut, tooLate }: Release,
  when = "now",
): string | null {
  const named = goingOut.slice(0, MAX_NAMED).map((row) => {
    const text = row.caption?.trim() ? row.caption : row.media_url;
    const words = text === "" ? "a post without text" : `“${plainText(text, MAX_TEXT)}”`;
    return `${words}, which was due on ${tellTime(row.scheduled_at, settings.timezone)}`;
  });
  const more = goingOut.length > MAX_NAMED ? `; and ${goingOut.length - MAX_NAMED} more` : "";
  const out =
    goingOut.length === 0
      ? []
      : [`${countOf(goingOut, "goes out", "go out")} ${when}: ${named.join("; ")}${more}.`];
  const minutes = Math.round(settings.maxLatenessMs / MINUTE);
  const late =
    tooLate.length === 0
      ? []
      : [`${countOf(tooLate, "fails", "fail")}, being more than ${plural(minutes, "minute")} late.`];
  return out.length + late.length === 0 ? null : [...out, ...late].join(" ");
}

/** What a channel without access kept back, before it is connected again. Null: nothing, or it is not to go out. */
export async function tellReconnection(ctx: AppContext, account: AccountRow | null): Promise<string | null> {
  const isCut = account?.status === "disconnected" || account?.status === "reconnect_required";
  if (account === null || !isCut || account.paused === 1) return null;
  return tellRelease(ctx, await readRelease(ctx, ctx.store, account), "as soon as it is connected");
}

function countOf({ length }: readonly PostRow[], one: string, several: string): string {
  return length === 1 ? `1 post ${one}` : `${length} posts ${several}`;
}
