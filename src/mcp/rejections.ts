/** All JSON-RPC errors that the service sends, by name. */
export const rejections = {
  parseError: { code: -32700, message: 'Parse error' },
  invalidRequest: { code: -32600, message: 'Invalid Request' },
  methodNotFound: { code: -32601, message: 'Method not found' },
  /** A 2026-07-28 request without a required _meta field. */
  metaMissing: { code: -32602, message: 'Invalid params' },
  invalidParams: { code: -32602, message: 'Invalid params' },
  headerMismatch: { code: -32020, message: 'Header mismatch' },
  unsupportedVersion: { code: -32022, message: 'Unsupported protocol version' },
} as const satisfies Record<string, { code: number; message: string }>;

export type Rejection = keyof typeof rejections;

/** HTTP status of each rejection by revision; 2025-06-18 sends every error with 200. */
export const rejectionStatus: Readonly<
  Record<Rejection, { '2025-06-18': number; '2026-07-28': number }>
> = {
  parseError: { '2025-06-18': 200, '2026-07-28': 200 },
  invalidRequest: { '2025-06-18': 200, '2026-07-28': 400 },
  methodNotFound: { '2025-06-18': 200, '2026-07-28': 404 },
  metaMissing: { '2025-06-18': 200, '2026-07-28': 400 },
  invalidParams: { '2025-06-18': 200, '2026-07-28': 200 },
  headerMismatch: { '2025-06-18': 200, '2026-07-28': 400 },
  unsupportedVersion: { '2025-06-18': 200, '2026-07-28': 400 },
};
