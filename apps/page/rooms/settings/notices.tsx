import { BellRing, Plus } from "lucide-preact";
import { useState } from "preact/hooks";
import type { Webhook } from "../../../../src/domain/webhooks/webhook.ts";
import { useLoad } from "../../data/load.ts";
import { channelName } from "../../data/shared-data.ts";
import { call } from "../../data/tools.ts";
import { useWork } from "../../../ui/use-work.ts";
import { Ask } from "../../../ui/ask.tsx";
import { Button } from "../../../ui/button.tsx";
import { Bones, Empty, Problem } from "../../../ui/states.tsx";
import { say } from "../../../ui/toasts.tsx";
import { sentenceOf } from "../../../shared/texts.ts";
import { NewNotice, NewWebhook } from "./notice-form.tsx";
import { eventsInWords, formatTitle, testInWords } from "./notice-formats.ts";
import { Section } from "./section.tsx";
import { ThisDevice } from "./this-device.tsx";

/** Who is told of what: people first, then programs. */
export function Notices() {
  const { data, error, again, reload } = useLoad(
    async (signal) => (await call("list_webhooks", {}, { signal })).webhooks,
    "webhooks",
  );
  const [making, setMaking] = useState<"notice" | "webhook" | null>(null);
  const people = data?.filter(({ format }) => format !== "standard") ?? [];
  const programs = data?.filter(({ format }) => format === "standard") ?? [];
  return (
    <Section
      id="notices"
      title="Notices"
      lead="Posthorn publishes by itself. It tells you where you read along anyway when it needs you."
      actions={
        <Button aria-haspopup="dialog" onClick={() => setMaking("notice")}>
          <Plus aria-hidden="true" />
          New notice
        </Button>
      }
    >
      <ThisDevice onChange={reload} />
      {error !== null && <Problem sentence={error} onRetry={again} />}
      {data === null && error === null && <Bones rows={2} label="Notices are loading" />}
      {data !== null && people.length === 0 && (
        <Empty
          icon={<BellRing aria-hidden="true" />}
          title="Nobody is told yet"
          text="A failed post or a lost channel shows only on this page. Have a message sent to ntfy, Slack, Discord, Telegram or by e-mail."
        />
      )}
      <WebhookRows webhooks={people} onChange={reload} />
      <div class="part">
        <div>
          <h3>For programs</h3>
          <p class="muted note">Signed JSON to an address of yours, for each event.</p>
        </div>
        <Button isSmall aria-haspopup="dialog" onClick={() => setMaking("webhook")}>
          <Plus aria-hidden="true" />
          New webhook
        </Button>
      </div>
      <WebhookRows webhooks={programs} onChange={reload} />
      {making === "notice" && <NewNotice onMade={reload} onClose={() => setMaking(null)} />}
      {making === "webhook" && <NewWebhook onMade={reload} onClose={() => setMaking(null)} />}
    </Section>
  );
}

interface RowsProps {
  readonly webhooks: readonly Webhook[];
  onChange(): void;
}

function WebhookRows({ webhooks, onChange }: RowsProps) {
  if (webhooks.length === 0) return null;
  return (
    <ul class="rows">
      {webhooks.map((one) => (
        <WebhookRow key={one.id} webhook={one} onChange={onChange} />
      ))}
    </ul>
  );
}

function WebhookRow({ webhook, onChange }: { readonly webhook: Webhook; onChange(): void }) {
  const { isBusy, run } = useWork();
  const [told, setTold] = useState<{ readonly isGood: boolean; readonly text: string } | null>(null);
  const [isDeleting, setIsDeleting] = useState(false);
  const title = webhook.format === "standard" ? webhook.url : formatTitle(webhook.format);
  const testIt = async (): Promise<void> => {
    try {
      const { delivery } = await call("test_webhook", { id: webhook.id });
      setTold(testInWords(delivery, title));
      onChange();
    } catch (reason) {
      setTold({ isGood: false, text: sentenceOf(reason) });
    }
  };
  return (
    <li>
      <div class="about">
        <span class="about-head">
          <b>{title}</b>
          <StateBadge webhook={webhook} />
        </span>
        {webhook.format !== "standard" && <span class="muted note">{webhook.url}</span>}
        <span class="muted note">
          {eventsInWords(webhook.events)}
          {webhook.accountIds !== null && ` · Only ${webhook.accountIds.map(channelName).join(", ")}`}
          {webhook.pending > 0 && ` · ${webhook.pending} not sent yet`}
        </span>
        {webhook.statusReason !== null && <span class="note bad-text">{webhook.statusReason}</span>}
        {told !== null && (
          <span class={told.isGood ? "note good-text" : "note bad-text"} role="status">
            {told.text}
          </span>
        )}
      </div>
      <div class="buttons">
        <Button isSmall isBusy={isBusy} aria-label={`Test ${title}`} onClick={() => run(testIt)}>
          Test
        </Button>
        <Button isSmall kind="quiet" aria-label={`Delete ${title}`} onClick={() => setIsDeleting(true)}>
          Delete
        </Button>
      </div>
      {isDeleting && (
        <Ask
          question={`Delete ${title}?`}
          text="Nothing more is sent there. What waits for it is dropped."
          yes="Delete"
          no="Keep it"
          isDanger
          onYes={async () => {
            await call("delete_webhook", { id: webhook.id });
            say(`${title} is deleted.`);
            onChange();
          }}
          onClose={() => setIsDeleting(false)}
        />
      )}
    </li>
  );
}

const STATES = {
  active: { tint: "published", label: "Works" },
  failing: { tint: "waiting", label: "Does not get through" },
  disabled: { tint: "failed", label: "Off until a test gets through" },
} as const;

function StateBadge({ webhook: { status } }: { readonly webhook: Webhook }) {
  const { tint, label } = STATES[status];
  return <span class={`badge ${tint}`}>{label}</span>;
}
