import type { Selectable } from "kysely";
import { queryOf } from "../../engine/handle.ts";
import type { Tables } from "../../engine/schema.ts";
import type { Reader, Tx } from "../../engine/store.ts";

export type AppRow = Selectable<Tables["apps"]>;

type AppKey = Pick<AppRow, "provider" | "instance_url" | "redirect_url">;

export function findApp(reader: Reader, key: AppKey): Promise<AppRow | undefined> {
  return queryOf(reader)
    .selectFrom("apps")
    .selectAll()
    .where("provider", "=", key.provider)
    .where("instance_url", "=", key.instance_url)
    .where("redirect_url", "=", key.redirect_url)
    .executeTakeFirst();
}

/** Puts it in the place of the one that was found, null: of none; the one that stands there in the end. */
export async function storeApp(tx: Tx, row: AppRow, found: AppRow | null): Promise<AppRow> {
  if (found !== null) await deleteApp(tx, found);
  await queryOf(tx)
    .insertInto("apps")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return (await findApp(tx, row)) ?? row;
}

/** Unless another one stands there by now. */
export async function deleteApp(tx: Tx, app: AppRow): Promise<void> {
  await queryOf(tx)
    .deleteFrom("apps")
    .where("provider", "=", app.provider)
    .where("instance_url", "=", app.instance_url)
    .where("redirect_url", "=", app.redirect_url)
    .where("app_enc", "=", app.app_enc)
    .execute();
}

/** Whether tokens were got with it. */
export async function isAppUsed(reader: Reader, app: AppKey): Promise<boolean> {
  const grant = await queryOf(reader)
    .selectFrom("grants")
    .select("id")
    .where("provider", "=", app.provider)
    .where("instance_url", "is", app.instance_url === "" ? null : app.instance_url)
    .where("redirect_url", "=", app.redirect_url)
    .limit(1)
    .executeTakeFirst();
  return grant !== undefined;
}
