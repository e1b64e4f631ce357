/** What a request asks for, as a path and query that the router can read. */
export function readableTarget(target: string): string {
  return withReadablePath(originForm(target));
}

/** The path of a readable target, decoded. */
export function pathOf(target: string): string {
  return decodeURI(target.split('?', 1)[0] as string);
}

/** A target in absolute form without the server that it names (RFC 9112 section 3.2.2). */
function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  const path = url.replace(/^[a-z][\w+.-]*:\/\/[^/?#]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}

/** A path that is not valid percent-encoding is taken literally, so that it names nothing. */
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
