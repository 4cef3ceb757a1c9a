import type { Generated } from "kysely";

/* What tables are described with. Times are milliseconds, lists and objects JSON text, flags 0 or 1. */

/** `bigint` holds times and sizes of files. A `sequence` numbers rows as they come, and is the key. */
export type ColumnType = "text" | "integer" | "bigint" | "flag" | "real" | "sequence";

/** `T`: what a query reads; `Generated` for what an insert may leave out. */
export interface Column<T = unknown> {
  readonly type: ColumnType;
  readonly isNullable: boolean;
  /** What a row has whose insert names none. Null: nothing. */
  readonly default: string | number | null;
  /** Never there: it carries the type. */
  readonly value?: T;
}

function column<T>(type: ColumnType): Column<T> {
  return { type, isNullable: false, default: null };
}

export const text = column<string>("text");
export const integer = column<number>("integer");
export const bigint = column<number>("bigint");
export const flag = column<number>("flag");
export const real = column<number>("real");
export const sequence = column<Generated<number>>("sequence");

/** A text that is one of these. */
export function oneOf<T extends string>(): Column<T> {
  return column("text");
}

export function orNull<T>(of: Column<T>): Column<T | null> {
  return { type: of.type, default: of.default, isNullable: true };
}

export function withDefault<T extends string | number>(of: Column<T>, value: T): Column<Generated<T>> {
  return { type: of.type, isNullable: of.isNullable, default: value };
}

type Columns = Readonly<Record<string, Column>>;

interface Reference {
  readonly table: string;
  /** Its key. */
  readonly key: string;
  readonly onDelete?: "cascade";
}

/** The same for rows that are inserted by hand: our own inserts name it. */
export function preset<T extends string | number>(of: Column<T>, value: T): Column<T> {
  return { type: of.type, isNullable: of.isNullable, default: value };
}

interface Constraints {
  /** The primary key. Not named where it is a `sequence`. */
  readonly key?: readonly string[];
  readonly unique?: readonly string[];
  /** The row that a column names. */
  readonly references?: Readonly<Record<string, Reference>>;
  /** By name: what stands behind `ON table`, in the SQL of both engines. */
  readonly indexes?: Readonly<Record<string, string>>;
  readonly uniqueIndexes?: Readonly<Record<string, string>>;
}

export interface Table extends Constraints {
  readonly columns: Columns;
}

/** Infers the columns' types. */
export function table<C extends Columns>(
  described: Constraints & {
    readonly columns: C;
    readonly key?: readonly (keyof C)[];
    readonly unique?: readonly (keyof C)[];
    readonly references?: { readonly [column in keyof C]?: Reference };
  },
): Constraints & { readonly columns: C } {
  return described;
}

type TypeOf<C> = C extends Column<infer T> ? T : never;

/** The rows of described tables, as Kysely wants them. */
export type RowsOf<All extends Readonly<Record<string, Table>>> = {
  [T in keyof All]: { [C in keyof All[T]["columns"]]: TypeOf<All[T]["columns"][C]> };
};
