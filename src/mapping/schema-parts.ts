import { z } from 'zod';

/** An object with no other keys than these. */
export function strict<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `has unknown keys: ${issue.keys.map((key) => `"${key}"`).join(', ')}; known keys are ${known}`
        : issue.input === undefined
          ? 'is missing'
          : 'must be an object',
  });
}

export const column = z.string().min(1);

/** A delimiter or quote, which cannot be a line break. */
export const character = z.string().refine((text) => /^[^\r\n]$/.test(text), {
  error: 'must be one character other than a line break',
});

export function oneOf(issue: z.core.$ZodRawIssue, choices: string): string {
  if (issue.input === undefined) return 'is missing';
  return issue.code === 'invalid_union' ? `must be one of ${choices}` : 'must be an object';
}
