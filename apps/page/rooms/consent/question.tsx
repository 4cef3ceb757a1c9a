import { ShieldAlert, ShieldCheck } from "lucide-preact";
import { useState } from "preact/hooks";
import type { Role } from "../../../../src/domain/permissions.ts";
import { session } from "../../data/session.ts";
import { useWork } from "../../../ui/use-work.ts";
import { Button } from "../../../ui/button.tsx";
import { Problem } from "../../../ui/states.tsx";
import { ChannelChoice, RoleChoice } from "../settings/choices.tsx";
import { ALL_ROLES } from "../settings/roles.ts";
import { type Client, type Consent, doubtAbout, placeInWords } from "./consent-words.ts";
import { answerConsent, isOver } from "./consent-api.ts";
import { Form } from "../../../ui/field.tsx";

interface QuestionProps {
  readonly consent: Consent;
  onAnswered(redirectUrl: string, isAllowed: boolean): void;
  /** Someone else answered, or time went by. */
  onOver(): void;
}

export function Question({ consent, onAnswered, onOver }: QuestionProps) {
  const { roles, client } = consent;
  const [role, setRole] = useState<Role | null>(roles.find((one) => one.isPreselected)?.name ?? null);
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  const { doing, error, setError, run } = useWork();
  const offered = ALL_ROLES.filter((one) => roles.some(({ name }) => name === one));

  const answer = async (decision: "allow" | "deny"): Promise<void> => {
    if (decision === "allow" && chosen?.length === 0)
      return setError("Channels: none is chosen. Choose at least one, or let it reach all of them.");
    await run(async () => {
      const gift = decision === "allow" && role !== null ? { role, accountIds: chosen } : null;
      try {
        onAnswered(await answerConsent(consent.id, gift), gift !== null);
      } catch (reason) {
        if (!isOver(reason)) throw reason;
        onOver();
      }
    }, decision);
  };

  return (
    <Form class="stack" onSubmit={() => void answer("allow")}>
      <Asker client={client} />
      {role === null ? (
        <p class="hint">
          Your key "{session.value?.name}" may not read posts, so there is nothing that you can give. Sign in
          with another key, then start again in the program.
        </p>
      ) : (
        <>
          <RoleChoice roles={offered} role={role} onChange={setRole} />
          <ChannelChoice
            chosen={chosen}
            onChange={setChosen}
            {...(session.value?.accountIds !== null && { all: "All channels that you reach" })}
          />
          <p class="muted note">You can end this in Settings at any time.</p>
        </>
      )}
      {error !== null && <Problem sentence={error} />}
      <div class="answers">
        <Button isBusy={doing === "deny"} onClick={() => answer("deny")}>
          Deny
        </Button>
        {role !== null && (
          <Button kind="main" type="submit" isBusy={doing === "allow"}>
            Allow
          </Button>
        )}
      </div>
    </Form>
  );
}

function Asker({ client }: { readonly client: Client }) {
  const doubt = doubtAbout(client);
  const Sign = doubt === null ? ShieldCheck : ShieldAlert;
  return (
    <div class="asker">
      <dl>
        <dt>Comes from</dt>
        <dd>{client.host ?? "Unknown"}</dd>
        <dt>Answer goes to</dt>
        <dd>{placeInWords(client)}</dd>
      </dl>
      <p class={doubt === null ? "sure" : "unsure"}>
        <Sign aria-hidden="true" />
        <span>
          <b>{doubt === null ? "Verified." : "Not verified."}</b>{" "}
          {doubt ?? `${client.host} vouches for this program.`}
        </span>
      </p>
    </div>
  );
}
