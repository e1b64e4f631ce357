/**
 * For pages: nothing but what the service itself serves, and no inline code.
 * @param forms where their forms may be sent
 */
export function contentSecurityPolicy(forms: "'self'" | "'none'"): string {
  return [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    // For results while typing.
    "connect-src 'self'",
    // For the icon, which is part of the page.
    'img-src data:',
    "base-uri 'none'",
    `form-action ${forms}`,
    "frame-ancestors 'none'",
  ].join('; ');
}
