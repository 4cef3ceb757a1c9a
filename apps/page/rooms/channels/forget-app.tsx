import { useState } from "preact/hooks";
import type { PlatformListing } from "../../../../src/domain/accounts/platform-listing.ts";
import { may } from "../../data/session.ts";
import { Ask } from "../../../ui/ask.tsx";
import { Button } from "../../../ui/button.tsx";
import { say } from "../../../ui/toasts.tsx";
import { send } from "../../data/wire.ts";
import { listed } from "../../../shared/texts.ts";

interface ForgetProps {
  readonly listing: PlatformListing;
  onForgotten(): void;
}

/** Takes an app away that was entered here. What the environment names is not ours to forget. */
export function ForgetApp({ listing, onForgotten }: ForgetProps) {
  const [isAsked, setIsAsked] = useState(false);
  const { provider, title } = listing;
  const hasApp = (listing.settings ?? []).some(({ name, isSet }) => isSet && name.endsWith("_CLIENT_ID"));
  if (!may("admin") || !hasApp) return null;
  const forget = async (): Promise<void> => {
    const { environment } = await send(`/platforms/${encodeURIComponent(provider)}/app`, {
      method: "DELETE",
    });
    const stays = Array.isArray(environment) ? environment.map(String) : [];
    say(
      stays.length === 0
        ? `The app of ${title} is forgotten.`
        : `What was entered here is forgotten. ${listed(stays)} stay: they are set where Posthorn runs.`,
    );
    onForgotten();
  };
  return (
    <div class="buttons">
      <Button isSmall kind="danger" onClick={() => setIsAsked(true)}>
        Forget this app
      </Button>
      {isAsked && (
        <Ask
          isDanger
          question={`Forget the app of ${title}?`}
          text={`Its id and secret are deleted. Channels on ${title} go on until their access has to be renewed, and cannot be reconnected without an app.`}
          yes="Forget it"
          no="Keep it"
          onYes={forget}
          onClose={() => setIsAsked(false)}
        />
      )}
    </div>
  );
}
