/** How many pages a document has. */
export const statements: readonly string[] = [`ALTER TABLE files ADD COLUMN pages INTEGER`];
