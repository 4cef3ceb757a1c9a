import { CircleCheck, CircleSlash, Hourglass } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useAddress } from "../../data/address.tsx";
import { useLoad } from "../../data/load.ts";
import { session } from "../../data/session.ts";
import { ButtonLink } from "../../../ui/button.tsx";
import { Mark } from "../../../ui/mark.tsx";
import { Bones, Problem } from "../../../ui/states.tsx";
import type { Client } from "./consent-words.ts";
import { loadConsent } from "./consent-api.ts";
import { Question } from "./question.tsx";

interface ConsentAnswer {
  readonly client: Client;
  readonly isAllowed: boolean;
  readonly redirectUrl: string;
}

/** A program asks for access. Nothing of the answer comes from the address: anybody may have made it. */
export function ConsentRoom() {
  const { query } = useAddress();
  return <ConsentRequest key={query["request"]} id={query["request"] ?? ""} />;
}

function ConsentRequest({ id }: { readonly id: string }) {
  const { data, error, again, set } = useLoad(
    async (signal) => (id === "" ? { consent: null } : loadConsent(id, signal)),
    id,
  );
  const { isHere } = useAddress();
  const [answered, setAnswered] = useState<ConsentAnswer | null>(null);
  if (answered !== null) return <AnswerGiven {...answered} />;
  if (data === null)
    return (
      <Card title="A program asks for access">
        {error === null ? (
          <Bones rows={6} label="The question is loading" />
        ) : (
          <Problem sentence={error} onRetry={again} />
        )}
      </Card>
    );
  const { consent } = data;
  if (consent === null) return <RequestOver />;
  return (
    <Card title={<Title name={consent.client.name} />} windowTitle="A program asks for access">
      <Question
        consent={consent}
        onOver={() => set({ consent: null })}
        onAnswered={(redirectUrl, isAllowed) => {
          setAnswered({ client: consent.client, isAllowed, redirectUrl });
          if (isHere()) location.href = redirectUrl;
        }}
      />
    </Card>
  );
}

function Title({ name }: { readonly name: string }) {
  return (
    <>
      <bdi>{name}</bdi> asks for access to Posthorn
    </>
  );
}

function RequestOver() {
  return (
    <Card title="This question is over" icon={<Hourglass aria-hidden="true" />}>
      <p>
        It was answered already, or its 10 minutes are over. Nothing was given just now. To connect, start
        again in the program that sent you here.
      </p>
      <Foot />
    </Card>
  );
}

/** The browser stays here where a program beside it takes the answer. */
function AnswerGiven({ client, isAllowed, redirectUrl }: ConsentAnswer) {
  return (
    <Card
      title={isAllowed ? "Access is given" : "Nothing is given"}
      icon={isAllowed ? <CircleCheck aria-hidden="true" /> : <CircleSlash aria-hidden="true" />}
    >
      <p role="status">
        <bdi>{client.name}</bdi>{" "}
        {isAllowed ? "takes it up now. You can end it in Settings." : "is told that you said no."} You can
        close this window.
      </p>
      <Foot>
        <ButtonLink href={redirectUrl}>Go back to the program</ButtonLink>
      </Foot>
    </Card>
  );
}

function Foot({ children }: { readonly children?: ComponentChildren }) {
  return (
    <div class="buttons">
      {children}
      <ButtonLink href="/app/plan">Open Posthorn</ButtonLink>
    </div>
  );
}

interface CardProps {
  readonly title: ComponentChildren;
  /** Where the title is no mere text. */
  readonly windowTitle?: string;
  readonly icon?: ComponentChildren;
  readonly children: ComponentChildren;
}

function Card({ title, windowTitle, icon, children }: CardProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const name = windowTitle ?? (typeof title === "string" ? title : "");
  useLayoutEffect(() => {
    document.title = `${name} · Posthorn`;
    heading.current?.focus({ preventScroll: true });
  }, [name]);
  return (
    <main class="alone">
      <div class="card consent">
        <header>
          <div class="brand">
            <Mark />
            Posthorn
          </div>
          <p class="muted note">
            Signed in as <bdi>{session.value?.name}</bdi>
          </p>
        </header>
        {icon}
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {children}
      </div>
    </main>
  );
}
