export interface Answer {
  readonly status: number;
  /** Null: a body that is none, as what stands before the API answers. */
  readonly json: object | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** X's form of an error. */
export function problem(status: number, title: string, detail: string, type = "about:blank"): Answer {
  return { status, json: { title, detail, type, status } };
}

/** Of what stands before the API. */
export const withoutBody = (status: number): Answer => ({ status, json: null });

const TYPES = "https://api.x.com/2/problems";

export const invalidRequest = (detail: string): Answer => ({
  status: 400,
  json: {
    errors: [{ message: detail }],
    title: "Invalid Request",
    detail: "One or more parameters to your request was invalid.",
    type: `${TYPES}/invalid-request`,
  },
});
export const unauthorized = (): Answer => problem(401, "Unauthorized", "Unauthorized");
export const forbidden = (detail: string): Answer => problem(403, "Forbidden", detail);
export const notFound = (id: string): Answer => ({
  status: 200,
  json: {
    errors: [
      {
        value: id,
        detail: `Could not find tweet with id: [${id}].`,
        title: "Not Found Error",
        resource_type: "tweet",
        parameter: "id",
        resource_id: id,
        type: `${TYPES}/resource-not-found`,
      },
    ],
  },
});
export const duplicate = (): Answer =>
  forbidden("You are not allowed to create a Tweet with duplicate content.");
export const noCredits = (): Answer => ({
  status: 402,
  json: {
    account_id: 2001,
    title: "CreditsDepleted",
    detail: "Your enrolled account [2001] does not have any credits to fulfill this request.",
    type: `${TYPES}/credits`,
  },
});
export const spendCap = (): Answer => ({
  status: 403,
  json: {
    account_id: 2001,
    title: "SpendCapReached",
    detail: "Your enrolled account [2001] has reached its billing cycle spend cap.",
    type: `${TYPES}/credits`,
  },
});
export const usageCapped = (): Answer => ({
  status: 429,
  json: {
    title: "UsageCapExceeded",
    detail: "Usage cap exceeded: Monthly product cap",
    type: `${TYPES}/usage-capped`,
    period: "Monthly",
    scope: "Product",
  },
});
/** `resetAt`: milliseconds since 1970. */
export const rateLimited = (resetAt: number): Answer => ({
  ...problem(429, "Too Many Requests", "Too Many Requests"),
  headers: {
    "x-rate-limit-limit": "100",
    "x-rate-limit-remaining": "0",
    "x-rate-limit-reset": String(Math.ceil(resetAt / 1_000)),
  },
});
