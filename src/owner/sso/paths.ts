export const ssoBase = '/app/sso';

/** Where an issuer signs somebody in. @param isFresh whether they have to sign in at the issuer again */
export function ssoPath(id: number, next: string, isFresh = false): `/app${string}` {
  return `${ssoBase}/${id}?${new URLSearchParams({ next, ...(isFresh && { fresh: '1' }) })}`;
}

/** Where an issuer sends browsers back to. Each has its own, so that none can answer in the name of another. */
export const callbackPath = (id: number | ':provider') => `${ssoBase}/${id}/callback` as const;
