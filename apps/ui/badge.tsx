/** A state has a shape beside its colour, for those who do not see the colour. */
export function Badge({
  tint,
  sign,
  label,
}: {
  readonly tint: string;
  readonly sign: string;
  readonly label: string;
}) {
  return (
    <span class={`badge ${tint}`}>
      <span aria-hidden="true">{sign}</span>
      {label}
    </span>
  );
}
