import { useState } from "preact/hooks";
import { type LoadResult, useLoad } from "../../data/load.ts";
import { channelName } from "../../data/shared-data.ts";
import { Ask } from "../../../ui/ask.tsx";
import { Button } from "../../../ui/button.tsx";
import { Problem } from "../../../ui/states.tsx";
import { say } from "../../../ui/toasts.tsx";
import { type Grant, listGrants, revokeGrant } from "./keys-api.ts";
import { momentInWords } from "./moments.ts";
import { roleTitle } from "./roles.ts";
import { Section } from "./section.tsx";

/** Programs that asked for access. Nothing where there are none. */
export function Grants({ grants }: { readonly grants: LoadResult<readonly Grant[]> }) {
  if (grants.error === null && (grants.data ?? []).length === 0) return null;
  return (
    <div class="stack tight">
      <h3 id="grants-title">Connected by OAuth</h3>
      <GrantList grants={grants} />
    </div>
  );
}

/** For those who manage no keys, and may end what they gave. */
export function OwnGrants() {
  const grants = useLoad(listGrants, "grants");
  if ((grants.data ?? []).length === 0) return null;
  return (
    <Section id="grants" title="Connected by OAuth" lead="Programs that you gave access to.">
      <GrantList grants={grants} />
    </Section>
  );
}

function GrantList({ grants }: { readonly grants: LoadResult<readonly Grant[]> }) {
  const { data, error, again, reload } = grants;
  const [ending, setEnding] = useState<Grant | null>(null);
  return (
    <>
      {error !== null && <Problem sentence={error} onRetry={again} />}
      <ul class="rows" aria-labelledby="grants-title">
        {data?.map((grant) => (
          <li key={grant.id}>
            <div class="about">
              <b dir="auto">{grant.client.name}</b>
              <span class="muted note">
                {roleTitle(grant.role, grant.permissions)}
                {" · "}
                {grant.accountIds === null ? "All channels" : grant.accountIds.map(channelName).join(", ")}
              </span>
              <span class="muted note">
                {grant.lastUsedAt === null ? "Never used" : `Last used ${momentInWords(grant.lastUsedAt)}`}
                {grant.givenBy !== null && ` · Given by ${grant.givenBy}`}
              </span>
            </div>
            <Button
              isSmall
              aria-label={`Revoke access of ${grant.client.name}`}
              onClick={() => setEnding(grant)}
            >
              Revoke
            </Button>
          </li>
        ))}
      </ul>
      {ending !== null && (
        <Ask
          question={`End the access of "${ending.client.name}"?`}
          text="It is shut out at once, and can ask you again. What it has scheduled stays."
          yes="Revoke"
          no="Keep it"
          isDanger
          onYes={async () => {
            await revokeGrant(ending.id);
            say(`"${ending.client.name}" has no access any more.`);
            reload();
          }}
          onClose={() => setEnding(null)}
        />
      )}
    </>
  );
}
