import { Bot, Braces, Code, ExternalLink, SquareTerminal } from "lucide-preact";
import { useState } from "preact/hooks";
import { siClaude, siCursor, siGooglegemini } from "simple-icons";
import type { LoadResult } from "../../data/load.ts";
import { session } from "../../data/session.ts";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { SHOWN_ONCE } from "../../../ui/leaving.ts";
import { Sheet } from "../../../ui/sheet.tsx";
import { CopyBox } from "./copy-box.tsx";
import { Grants } from "./grants.tsx";
import { type AssistantName, ASSISTANTS, installFor, mcpUrl } from "./install.ts";
import { KeyForm } from "./key-form.tsx";
import type { Grant } from "./keys-api.ts";
import { ASSISTANT_ROLES } from "./roles.ts";
import { Section } from "./section.tsx";

type Assistant = (typeof ASSISTANTS)[number];

interface AssistantsProps {
  readonly grants: LoadResult<readonly Grant[]>;
  onKeyMade(): void;
}

/** Assistants write posts by the same tools as this page. */
export function Assistants({ grants, onKeyMade }: AssistantsProps) {
  const [open, setOpen] = useState<Assistant | null>(null);
  const offered = ASSISTANTS.filter((one) => !("needsOAuth" in one) || session.value?.hasOAuth === true);
  return (
    <Section
      id="assistants"
      title="Assistants"
      lead="Let an assistant plan posts for you. Each has a key of its own, which you can revoke at any time."
    >
      <ul class="assistants">
        {offered.map((one) => (
          <li key={one.name}>
            <button type="button" aria-haspopup="dialog" onClick={() => setOpen(one)}>
              <Glyph name={one.name} />
              <span>
                <b>{one.title}</b>
                <span class="muted note">{one.where}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
      <p class="muted note">
        They reach Posthorn at <code>{mcpUrl(session.value?.publicUrl ?? "")}</code>
      </p>
      <Grants grants={grants} />
      {open !== null && <Connect assistant={open} onKeyMade={onKeyMade} onClose={() => setOpen(null)} />}
    </Section>
  );
}

interface ConnectProps {
  readonly assistant: Assistant;
  onKeyMade(): void;
  onClose(): void;
}

function Connect({ assistant, onKeyMade, onClose }: ConnectProps) {
  const [key, setKey] = useState<string | null>(assistant.needsKey ? null : "");
  const { name, title, where } = assistant;
  return (
    <Sheet
      title={name === "other" ? "Connect an assistant" : `Connect ${title}`}
      loss={key === null || key === "" ? null : SHOWN_ONCE}
      onClose={onClose}
    >
      {key === null ? (
        <KeyForm
          name={name === "other" ? "My assistant" : title}
          roles={ASSISTANT_ROLES}
          next={where === "One command" ? "the command" : "what to do"}
          onMade={(made) => {
            setKey(made);
            onKeyMade();
          }}
        />
      ) : (
        <>
          <HowTo name={name} title={title} apiKey={key} />
          <div class="sheet-foot">
            <Button onClick={onClose}>Done</Button>
          </div>
        </>
      )}
    </Sheet>
  );
}

function HowTo({
  name,
  title,
  apiKey,
}: {
  readonly name: AssistantName;
  readonly title: string;
  readonly apiKey: string;
}) {
  const { link, text, todo, next } = installFor(name, {
    publicUrl: session.value?.publicUrl ?? "",
    key: apiKey,
  });
  return (
    <div class="stack">
      {apiKey !== "" && (
        <p class="hint">The key is shown this once. Close this only when the assistant has it.</p>
      )}
      {link !== null && (
        <div class="buttons">
          <ButtonLink href={link} kind="main">
            <ExternalLink aria-hidden="true" />
            Add to {title}
          </ButtonLink>
        </div>
      )}
      <p>{todo}</p>
      <CopyBox label={link === null ? "What to run or paste" : "The same as text"} text={text} />
      {next !== "" && <p class="muted">{next}</p>}
      {name === "claude-desktop" && (
        <p class="muted">
          It then starts Posthorn itself, with the same posts and channels. It needs no key: everyone who can
          start it may do what you choose there.
        </p>
      )}
      {apiKey !== "" && name === "other" && <CopyBox label="The key alone" text={apiKey} />}
    </div>
  );
}

const MARKS: Readonly<Partial<Record<AssistantName, { readonly path: string }>>> = {
  cursor: siCursor,
  "claude-code": siClaude,
  "claude-desktop": siClaude,
  claude: siClaude,
  "gemini-cli": siGooglegemini,
};
const SIGNS: Readonly<Partial<Record<AssistantName, typeof Bot>>> = {
  vscode: Code,
  codex: SquareTerminal,
  other: Braces,
};

function Glyph({ name }: { readonly name: AssistantName }) {
  const mark = MARKS[name];
  const Sign = SIGNS[name] ?? Bot;
  return (
    <span class="glyph" aria-hidden="true">
      {mark === undefined ? (
        <Sign />
      ) : (
        <svg viewBox="0 0 24 24">
          <path d={mark.path} />
        </svg>
      )}
    </span>
  );
}
