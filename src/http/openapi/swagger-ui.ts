import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

/** Shows the description beside it. Calls go to the origin of this page, whatever name the server has itself. */
const START = `
fetch("openapi.json").then((answer) => answer.json()).then((spec) => {
  const url = new URL("../..", location.href).href.replace(/\\/$/, "");
  SwaggerUIBundle({
    spec: { ...spec, servers: [{ url }] },
    dom_id: "#docs",
    deepLinking: true,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    filter: true,
    tryItOutEnabled: true,
    validatorUrl: null,
  });
});
`;

export interface SwaggerUi {
  readonly script: string;
  readonly style: string;
}

/** https://swagger.io/tools/swagger-ui/. `scripts/build.ts` puts the texts in this module's place. */
export async function readSwaggerUi(): Promise<SwaggerUi> {
  const { resolve } = createRequire(import.meta.url);
  const read = (name: string): Promise<string> => readFile(resolve(`swagger-ui-dist/${name}`), "utf8");
  const [script, style, notice, license, others] = await Promise.all(
    ["swagger-ui-bundle.js", "swagger-ui.css", "NOTICE", "LICENSE", "swagger-ui-bundle.js.LICENSE.txt"].map(
      read,
    ),
  );
  const code = `/*\n${notice}\n${license}*/\n${others}\n${script}\n${START}`;
  return { script: withoutMap(code), style: withoutMap(style ?? "") };
}

function withoutMap(text: string): string {
  return text.replaceAll(/^\/[/*]# sourceMappingURL=.*$/gm, "");
}
