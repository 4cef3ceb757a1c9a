/** A picture that needs no font: a horn's curl over a night sky. */
const PICTURE = `
<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="800" viewBox="0 0 1200 800">
  <defs>
    <linearGradient id="sky" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#14213d"/><stop offset="1" stop-color="#3d5a80"/></linearGradient>
    <linearGradient id="brass" x1="0" y1="0" x2="1" y2="1"><stop offset="0" stop-color="#ffe08a"/><stop offset="1" stop-color="#e09f3e"/></linearGradient>
  </defs>
  <rect width="1200" height="800" fill="url(#sky)"/>
  <g fill="#fff" opacity="0.8"><circle cx="160" cy="120" r="3"/><circle cx="340" cy="70" r="2"/><circle cx="620" cy="110" r="3"/><circle cx="900" cy="60" r="2"/><circle cx="1080" cy="170" r="3"/><circle cx="240" cy="260" r="2"/><circle cx="1000" cy="300" r="2"/></g>
  <path d="M0 800 V640 Q300 560 600 640 T1200 620 V800 Z" fill="#0b132b"/>
  <g fill="none" stroke="url(#brass)" stroke-width="30" stroke-linecap="round">
    <circle cx="560" cy="420" r="150"/><path d="M300 270 H560 A150 150 0 0 1 710 420"/><path d="M560 570 H820"/>
  </g>
  <path d="M810 540 Q900 520 990 440 V700 Q900 620 810 600 Z" fill="url(#brass)"/><rect x="262" y="246" width="46" height="48" rx="10" fill="#ffe08a"/>
</svg>`;

/** As a PNG. */
export async function demoPicture(): Promise<Buffer> {
  // Loaded here alone: no other command needs it at its start.
  const { default: sharp } = await import("sharp");
  return sharp(Buffer.from(PICTURE)).png().toBuffer();
}
