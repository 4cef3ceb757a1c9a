/**
 * What the program that called can be asked for: a form for its user, a text by its model, the folders that
 * it works in.
 */
export type Inquiry =
  | {
      readonly kind: "form";
      /** Plain text above the fields. */
      readonly message: string;
      /** JSON Schema of an object without nested objects. */
      readonly schema: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "text"; readonly prompt: string; readonly maxTokens: number }
  | { readonly kind: "folders" };

export type InquiryKind = Inquiry["kind"];

/** Comes from outside: only its shape was checked. */
export type Reply =
  | {
      readonly kind: "form";
      readonly action: "accept" | "decline" | "cancel";
      /** Empty unless accepted. */
      readonly content: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "folders"; readonly uris: readonly string[] };

export type Inquiries = Readonly<Record<string, Inquiry>>;
export type Replies<T extends Inquiries> = {
  readonly [Name in keyof T]: Extract<Reply, { kind: T[Name]["kind"] }>;
};

/** The program that called, while its call is under way. */
export interface CallingClient {
  canAnswer(kind: InquiryKind): boolean;
  /**
   * The replies to all of these. Where some are still missing it throws, the client is asked, and the handler
   * runs again from its top with all replies so far: ask before anything is changed, and let nothing that was
   * thrown be caught. Refuses the call of a client that cannot answer. The names `confirm` and `open` are
   * taken.
   */
  ask<T extends Inquiries>(inquiries: T): Replies<T>;
}
