import { signal } from "@preact/signals";
import { readDraft } from "../../../shared/drafts.ts";
import { jsonOf, textOf } from "../../../shared/json.ts";
import { splitText } from "../../../shared/texts.ts";
import { newestEdit, readEdit } from "../../data/kept-edits.ts";
import { useAddress } from "../../data/address.tsx";
import { useLoad } from "../../data/load.ts";
import { isOwnKey } from "../../data/session.ts";
import { call } from "../../data/tools.ts";
import { Button } from "../../../ui/button.tsx";
import { shortTime } from "../../../shared/when.ts";
import { isUnreached } from "../../../shared/reach.ts";
import type { Composer } from "./composer.ts";
import { isAnything } from "./form.ts";
import { lastSave } from "./kept-forms.ts";
import { ended } from "./ended-writing.ts";

/** Says that unsaved writing was restored. */
export function UnsavedNote({ composer }: { readonly composer: Composer }) {
  const { takenUp, post } = composer;
  const taken = takenUp.value;
  if (taken === null) return null;
  return (
    <p class="hint" role="status">
      <span>
        This is what you had {post === null ? "written" : "changed"} and not saved.
        {taken.isOld && " The post was changed elsewhere since then: saving yours replaces that."}
      </span>
      <Button isSmall onClick={composer.giveUp}>
        {post === null ? "Discard it" : "Take it back"}
      </Button>
    </p>
  );
}

/** Drafts that the person did not want to go on with, until the page is loaded anew. They stay under Review. */
const putAside = signal<readonly string[]>([]);

/** Leads back to what the person wrote last and did not finish, until they begin something else. */
export function GoOn({ composer: { draft, form } }: { readonly composer: Composer }) {
  const { data, error } = useLoad(loadLatest, String(ended.value.size));
  const { at } = useAddress().query;
  if (draft.value !== null || isAnything(form.value)) return null;
  if (data === null && error !== null && isUnreached(error))
    return <p class="hint">{unopenedDraftInWords(keptTitle(newestEdit(DRAFTS)))}</p>;
  if (data === null || data.title === null) return null;
  if (putAside.value.includes(data.id)) return null;
  return (
    <p class="hint">
      <a href={`/app/write?${new URLSearchParams({ draft: data.id, ...(at !== undefined && { at }) })}`}>
        Go on with “<bdi>{data.title}</bdi>”{at !== undefined && `, for ${shortTime(Date.parse(at))}`}?
      </a>
      <Button isSmall kind="quiet" onClick={() => (putAside.value = [...putAside.value, data.id])}>
        Not now
      </Button>
    </p>
  );
}

/** The beginning of the ids of drafts. */
const DRAFTS = "dft_";

/** Of a draft that was changed and not saved. Null: the browser has no change of it. */
function keptTitle(id: string | null): string | null {
  const { title, caption } = jsonOf(readEdit(id ?? "")?.change);
  return textOf(title).trim() || splitText(textOf(caption)).first || null;
}

/** What is said of drafts while they cannot be read. */
function unopenedDraftInWords(title: string | null): string {
  return title === null
    ? "Drafts that you saved before open when you are online."
    : `“${title}” is kept, and opens when you are online.`;
}

/** What was typed last: a draft with a change that is not saved yet goes before what the server has. */
async function loadLatest(
  signal: AbortSignal,
): Promise<{ readonly id: string; readonly title: string | null }> {
  await lastSave();
  const { drafts } = await call("list_drafts", { state: ["open"] }, { signal });
  const kept = newestEdit(DRAFTS);
  const own =
    drafts.find(({ id }) => id === kept) ?? drafts.find(({ writtenBy }) => isOwnKey(writtenBy.keyId));
  const shown = own === undefined ? null : readDraft(jsonOf(own));
  return { id: shown?.id ?? "", title: keptTitle(own?.id ?? null) ?? shown?.title ?? null };
}
