import type { Column, ColumnType, Table } from "./columns.ts";

/** How an engine writes the tables that both have. */
export interface Dialect {
  readonly types: Readonly<Record<ColumnType, string>>;
  /** Behind the columns of a table. */
  options(table: string): string;
  /** A column that this engine alone has, by the table. */
  readonly own?: Readonly<Record<string, string>>;
}

/** Makes a table and its indexes. */
export function createTable(name: string, described: Table, dialect: Dialect): string[] {
  const { columns, key = [], unique = [], references = {}, indexes = {}, uniqueIndexes = {} } = described;
  const own = dialect.own?.[name];
  const parts = [
    ...Object.entries(columns).map(([column, of]) => `${column} ${typeOf(of, dialect)}`),
    ...(own === undefined ? [] : [own]),
    ...(key.length > 0 ? [`PRIMARY KEY (${key.join(", ")})`] : []),
    ...unique.map((column) => `UNIQUE (${column})`),
    ...Object.entries(references).map(([column, { table, key: id, onDelete }]) => {
      const end = onDelete === undefined ? "" : " ON DELETE CASCADE";
      return `FOREIGN KEY (${column}) REFERENCES ${table} (${id})${end}`;
    }),
  ];
  return [
    `CREATE TABLE ${name} (\n  ${parts.join(",\n  ")}\n)${dialect.options(name)}`,
    ...Object.entries(indexes).map(([index, on]) => `CREATE INDEX ${index} ON ${name} ${on}`),
    ...Object.entries(uniqueIndexes).map(([index, on]) => `CREATE UNIQUE INDEX ${index} ON ${name} ${on}`),
  ];
}

function typeOf({ type, isNullable, default: preset }: Column, { types }: Dialect): string {
  if (type === "sequence") return types.sequence;
  const value = typeof preset === "string" ? `'${preset}'` : preset;
  return `${types[type]}${isNullable ? "" : " NOT NULL"}${value === null ? "" : ` DEFAULT ${value}`}`;
}
