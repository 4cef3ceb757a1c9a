import type { jsonSchemaValidator } from "@modelcontextprotocol/server";
import * as z from "zod";

/** Checks a person's answer to a question: the SDK's own validator would be half as large as the SDK. */
export const JSON_SCHEMA_VALIDATOR: jsonSchemaValidator = {
  getValidator<T>(schema: Parameters<jsonSchemaValidator["getValidator"]>[0]) {
    const answer = z.fromJSONSchema(schema as unknown as z.core.JSONSchema.JSONSchema);
    return (input: unknown) => {
      const parsed = answer.safeParse(input);
      return parsed.success
        ? { valid: true, data: parsed.data as T, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: z.prettifyError(parsed.error) };
    };
  },
};
