import { useState } from "preact/hooks";
import { platformTitle } from "../data/shared-data.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { UNSAVED, useLoss } from "../../ui/leaving.ts";
import { type PostActionsProps, useChange } from "./use-change.ts";

/** A person looks at the platform and says what is there. */
export function ResolvePost({ post, onChanged }: PostActionsProps) {
  const [address, setAddress] = useState("");
  const { doing, error, change } = useChange(onChanged);
  useLoss(address.trim() === "" ? null : UNSAVED);
  const resolve = (outcome: "published" | "not_published"): void => {
    const platformUrl =
      outcome === "published" && address.trim() !== "" ? { platformUrl: address.trim() } : {};
    const said =
      outcome === "published" ? "It counts as published." : "It was not sent. You can send it again.";
    void change("resolve_post", { id: post.id, outcome, ...platformUrl }, said);
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
        <Button kind="main" isBusy={doing !== null} onClick={() => resolve("published")}>
          It is there
        </Button>
        <Button isBusy={doing !== null} onClick={() => resolve("not_published")}>
          It is not there
        </Button>
      </div>
    </div>
  );
}
