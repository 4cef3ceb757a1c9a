import { KeyRound, Plus } from "lucide-preact";
import { useState } from "preact/hooks";
import { channelName } from "../../data/shared-data.ts";
import type { LoadResult } from "../../data/load.ts";
import { Ask } from "../../../ui/ask.tsx";
import { Button } from "../../../ui/button.tsx";
import { SHOWN_ONCE } from "../../../ui/leaving.ts";
import { Sheet } from "../../../ui/sheet.tsx";
import { Bones, Empty, Problem } from "../../../ui/states.tsx";
import { say } from "../../../ui/toasts.tsx";
import { CopyBox } from "./copy-box.tsx";
import { KeyForm } from "./key-form.tsx";
import { type ApiKey, revokeKey } from "./keys-api.ts";
import { ALL_ROLES, roleTitle } from "./roles.ts";
import { Section } from "./section.tsx";
import { momentInWords } from "./moments.ts";

/** Keys, those that work first. */
export function Keys({ keys }: { readonly keys: LoadResult<readonly ApiKey[]> }) {
  const [isMaking, setIsMaking] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const { data, error, again, reload } = keys;
  const active = data?.filter(({ status }) => status === "active") ?? [];
  const ended = data?.filter(({ status }) => status !== "active") ?? [];
  return (
    <Section
      id="keys"
      title="Keys"
      lead="What assistants and programs sign in with. A lost key is revoked and made anew."
      actions={
        <Button aria-haspopup="dialog" onClick={() => setIsMaking(true)}>
          <Plus aria-hidden="true" />
          New key
        </Button>
      }
    >
      {error !== null && <Problem sentence={error} onRetry={again} />}
      {data === null && error === null && <Bones rows={2} label="Keys are loading" />}
      {data !== null && active.length === 0 && (
        <Empty
          icon={<KeyRound aria-hidden="true" />}
          title="No key works now"
          text="Choose an assistant above, or make a key for a program of yours."
        />
      )}
      <KeyList keys={active} onRevoke={setRevoking} />
      {ended.length > 0 && (
        <details class="ended">
          <summary>
            {ended.length === 1 ? "One key that no longer works" : `${ended.length} keys that no longer work`}
          </summary>
          <KeyList keys={ended} />
        </details>
      )}
      {isMaking && <MakeKey onMade={reload} onClose={() => setIsMaking(false)} />}
      {revoking !== null && (
        <Ask
          question={`Revoke "${revoking.name}"?`}
          text="Everyone who uses it is shut out at once, and signed out of this page. It does not come back. What it has scheduled stays."
          yes="Revoke"
          no="Keep it"
          isDanger
          onYes={async () => {
            await revokeKey(revoking.id);
            say(`"${revoking.name}" is revoked.`);
            reload();
          }}
          onClose={() => setRevoking(null)}
        />
      )}
    </Section>
  );
}

function MakeKey({ onMade, onClose }: { onMade(): void; onClose(): void }) {
  const [key, setKey] = useState<string | null>(null);
  return (
    <Sheet title="New key" loss={key === null ? null : SHOWN_ONCE} onClose={onClose}>
      {key === null ? (
        <KeyForm
          name=""
          roles={ALL_ROLES}
          onMade={(made) => {
            setKey(made);
            onMade();
          }}
        />
      ) : (
        <div class="stack">
          <p class="hint">The key is shown this once. Keep it where no one else looks.</p>
          <CopyBox label="The key" text={key} />
          <div class="sheet-foot">
            <Button onClick={onClose}>Done</Button>
          </div>
        </div>
      )}
    </Sheet>
  );
}

interface KeyListProps {
  readonly keys: readonly ApiKey[];
  onRevoke?(key: ApiKey): void;
}

function KeyList({ keys, onRevoke }: KeyListProps) {
  if (keys.length === 0) return null;
  return (
    <ul class="rows">
      {keys.map((key) => (
        <li key={key.id}>
          <div class="about">
            <b dir="auto">{key.name}</b>
            <span class="muted note">
              {roleTitle(key.role, key.permissions)}
              {" · "}
              {key.accountIds === null ? "All channels" : key.accountIds.map(channelName).join(", ")}
            </span>
            <span class="muted note">{useInWords(key)}</span>
          </div>
          {onRevoke !== undefined && (
            <Button isSmall aria-label={`Revoke ${key.name}`} onClick={() => onRevoke(key)}>
              Revoke
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}

function useInWords(key: ApiKey): string {
  if (key.revokedAt !== null) return `Revoked ${momentInWords(key.revokedAt)}`;
  const used = key.lastUsedAt === null ? "Never used" : `Last used ${momentInWords(key.lastUsedAt)}`;
  if (key.expiresAt === null) return used;
  return `${used} · ${key.status === "expired" ? "Ended" : "Ends"} ${momentInWords(key.expiresAt)}`;
}
