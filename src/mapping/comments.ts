/**
 * A mapping file's text as plain JSON: comments (`//` to the end of the line) and commas before a closing
 * bracket become spaces, so that errors name the same position.
 */
export function withoutComments(text: string): string {
  // Strings come first, so that nothing inside them is taken for a comment.
  const noComments = text.replaceAll(/"(?:[^"\\\r\n]|\\.)*"|\/\/[^\r\n]*/g, (part) =>
    part.startsWith('"') ? part : ' '.repeat(part.length),
  );
  return noComments.replaceAll(/"(?:[^"\\\r\n]|\\.)*"|,(?=\s*[}\]])/g, (part) =>
    part === ',' ? ' ' : part,
  );
}
