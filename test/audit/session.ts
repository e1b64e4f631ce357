/** How entries name an owner's session. */
export const session = /^[0-9a-f]{12}$/;
