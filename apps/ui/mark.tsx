/** The horn. */
export function Mark() {
  return (
    <svg
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <circle cx="9" cy="13" r="6" />
      <circle cx="9" cy="13" r="2" />
      <path d="M9 7h8l4-4v14l-4-4h-2" />
    </svg>
  );
}
