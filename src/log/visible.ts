/** Characters that move the cursor, end a line, or change the direction of text. */
const invisible = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Puts text on one line and escapes such characters (`\u202e`), so that no name can hide or forge
 * other output on a terminal.
 */
export function visible(text: string): string {
  return text.replace(
    invisible,
    (each) => short[each] ?? `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
