import * as z from "zod";

/** What a client of revision 2026-07-28 opens a stream of notifications with. */
const ListenRequest = z.looseObject({
  id: z.union([z.string(), z.number()]),
  method: z.literal("subscriptions/listen"),
  params: z.looseObject({
    notifications: z.looseObject({ resourceSubscriptions: z.array(z.string()).optional() }),
  }),
});
type ListenRequest = z.infer<typeof ListenRequest>;

/** Null for every other message, and for one that the SDK will refuse. */
export function readListenRequest(message: unknown): ListenRequest | null {
  const parsed = ListenRequest.safeParse(message);
  return parsed.success ? parsed.data : null;
}

export function listenedUris({ params }: ListenRequest): readonly string[] {
  return params.notifications.resourceSubscriptions ?? [];
}

/** The same request for these addresses alone: what is not watched must not be acknowledged. */
export function narrowListen<T extends ListenRequest>(request: T, uris: readonly string[]): T {
  const { params } = request;
  if (params.notifications.resourceSubscriptions === undefined) return request;
  return {
    ...request,
    params: { ...params, notifications: { ...params.notifications, resourceSubscriptions: [...uris] } },
  };
}
