/** What a field holds, in words for a message. */
type Kind = 'a whole number' | 'a number' | 'a text' | 'a boolean' | 'a time';

/** What an answer, or a part of it, must be: a value, a list, or an object with at least these fields. */
export type Shape = Kind | `${Kind} or null` | Shape[] | { [name: string]: Shape };

const kinds: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  'a whole number': (value) => Number.isSafeInteger(value),
  'a number': (value) => Number.isFinite(value),
  'a text': (value) => typeof value === 'string',
  'a boolean': (value) => typeof value === 'boolean',
  'a time': isTime,
};

/** Why an answer cannot be relied on, as far as the client and its types do; undefined if it can. */
export function faultOf(status: number, body: unknown, shape: Shape): string | undefined {
  if (status !== 200) return `its status is ${status} instead of 200`;
  if (isObject(body) && body['success'] === false) return 'it says that it is none';
  return misfit(body, shape, '');
}

function misfit(value: unknown, shape: Shape, place: string): string | undefined {
  const must = (be: string) => `${place || 'it'} must be ${be}`;
  if (typeof shape === 'string') {
    const kind = shape.replace(/ or null$/, '') as Kind;
    return kinds[kind](value) || (value === null && kind !== shape) ? undefined : must(shape);
  }
  let parts: [value: unknown, shape: Shape | undefined, place: string][];
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return must('a list');
    parts = value.map((each, index) => [each, shape[0], `${place}[${index}]`]);
  } else {
    if (!isObject(value)) return must('an object');
    const prefix = place === '' ? '' : `${place}.`;
    parts = Object.entries(shape).map(([name, inner]) => [value[name], inner, prefix + name]);
  }
  for (const [part, inner, at] of parts) {
    const fault = inner && misfit(part, inner, at);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Whether it is an object, and no list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Such as 2026-11-23T15:00:00.000Z. Dates that do not exist, such as February 30, are no times. */
function isTime(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  if (!/^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/.test(value)) return false;
  const at = Date.parse(value);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(value.slice(0, 19));
}
