import { signal } from "@preact/signals";
import { readDraft } from "../../../shared/drafts.ts";
import { jsonOf } from "../../../shared/json.ts";
import { useLoad } from "../../data/load.ts";
import { isOwnKey } from "../../data/session.ts";
import { call } from "../../data/tools.ts";
import { Button } from "../../ui/button.tsx";
import type { Composer } from "./composer.ts";
import { isAnything } from "./form.ts";

/** The last save of what was left a moment ago: before it, what was written there is not listed. */
let lastSave: Promise<unknown> = Promise.resolve();

export function noteLastSave(save: Promise<unknown>): void {
  lastSave = save;
}

/** What was changed in a post before, and was not saved, stands here again. */
export function TakenUp({ composer: { change } }: { readonly composer: Composer }) {
  const taken = change?.takenUp.value ?? null;
  if (taken === null) return null;
  return (
    <p class="hint" role="status">
      <span>
        This is what you had changed and not saved.
        {taken.isOld && " The post was changed elsewhere since then: saving yours replaces that."}
      </span>
      <Button isSmall onClick={() => change?.giveUp()}>
        Take it back
      </Button>
    </p>
  );
}

/** Drafts that the person did not want to go on with, until the page is loaded anew. They stay under Review. */
const putAside = signal<readonly string[]>([]);

/** Leads back to what the person wrote last and did not finish, until they begin something else. */
export function GoOn({ composer: { draft, form } }: { readonly composer: Composer }) {
  const { data } = useLoad(loadLatest, "open");
  if (data === null || data.title === null || draft.value !== null || isAnything(form.value)) return null;
  if (putAside.value.includes(data.id)) return null;
  return (
    <p class="hint">
      <a href={`/app/write?draft=${encodeURIComponent(data.id)}`}>
        Go on with “<bdi>{data.title}</bdi>”?
      </a>
      <Button isSmall kind="quiet" onClick={() => (putAside.value = [...putAside.value, data.id])}>
        Not now
      </Button>
    </p>
  );
}

async function loadLatest(
  signal: AbortSignal,
): Promise<{ readonly id: string; readonly title: string | null }> {
  await lastSave;
  const { drafts } = await call("list_drafts", { state: ["open"] }, { signal });
  const own = drafts.find(({ writtenBy }) => isOwnKey(writtenBy.keyId));
  const shown = own === undefined ? null : readDraft(jsonOf(own));
  return { id: shown?.id ?? "", title: shown?.title ?? null };
}
