/** Turns a request target into a path and query that the router accepts. */
export function readableTarget(target: string): string {
  return withReadablePath(originForm(target));
}

/** The decoded path of a target from `readableTarget`. */
export function pathOf(target: string): string {
  return decodeURI(target.split('?', 1)[0] as string);
}

/** Removes scheme and authority from a target in absolute form (RFC 9112 section 3.2.2). */
function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  const path = url.replace(/^[a-z][\w+.-]*:\/\/[^/?#]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}

/** Escapes a path with invalid percent-encoding, so that it is taken literally and matches nothing. */
function withReadablePath(url: string): string {
  if (!url.includes('%')) return url;
  const [path = '', ...query] = url.split('?');
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('?');
  }
}
