import { useState } from "preact/hooks";
import { platformTitle } from "../data/shared-data.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { UNSAVED, useLoss } from "../../ui/leaving.ts";
import { call } from "../data/tools.ts";
import { say } from "../../ui/toasts.tsx";
import { useWork } from "../../ui/use-work.ts";
import type { PostActionsProps } from "./post-actions.tsx";

/** A person looks at the platform and says what is there. */
export function ResolvePost({ post, onChanged }: PostActionsProps) {
  const [address, setAddress] = useState("");
  const { isBusy, error, run } = useWork();
  useLoss(address.trim() === "" ? null : UNSAVED);
  const resolve = (outcome: "published" | "not_published"): void => {
    const platformUrl =
      outcome === "published" && address.trim() !== "" ? { platformUrl: address.trim() } : {};
    const said =
      outcome === "published" ? "It counts as published." : "It was not sent. You can send it again.";
    void run(async () => {
      await call("resolve_post", { id: post.id, outcome, ...platformUrl });
      say(said);
      onChanged();
    });
  };
  return (
    <div class="post-resolve">
      <h3>Look at {platformTitle(post.provider)}: is it there?</h3>
      <TextField
        label="Its address (optional)"
        error={error}
        type="url"
        value={address}
        placeholder="https://"
        onText={setAddress}
      />
      <div class="buttons">
        <Button kind="main" isBusy={isBusy} onClick={() => resolve("published")}>
          It is there
        </Button>
        <Button isBusy={isBusy} onClick={() => resolve("not_published")}>
          It is not there
        </Button>
      </div>
    </div>
  );
}
