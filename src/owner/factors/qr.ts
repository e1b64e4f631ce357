import { encodeQR } from 'qr';
import { type Html, html } from '../../http/html.ts';

/** A QR code, dark on light in both colour schemes, as cameras need it. @param label for screen readers */
export function qrCode(text: string, label: string): Html {
  const rows = encodeQR(text, 'raw', { border: 2 });
  const path = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])),
  );
  return html`<svg
    role="img"
    aria-label="${label}"
    viewBox="0 0 ${rows.length} ${rows.length}"
    width="220"
    height="220"
    shape-rendering="crispEdges"
  >
    <rect width="100%" height="100%" fill="#fff" />
    <path d="${path.join('')}" fill="#000" />
  </svg>`;
}
