import { MapPinOff } from "lucide-preact";
import { ButtonLink } from "../../ui/button.tsx";
import { Room } from "../../ui/room.tsx";
import { Empty } from "../../ui/states.tsx";

/** An address of the page at which there is no room. */
export function Nowhere() {
  return (
    <Room title="Page not found">
      <Empty
        icon={<MapPinOff aria-hidden="true" />}
        title="There is no such page"
        text="The address may be mistyped, or come from another version of Posthorn."
      >
        <ButtonLink href="/app/plan" kind="main">
          To the plan
        </ButtonLink>
      </Empty>
    </Room>
  );
}
