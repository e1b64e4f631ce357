import { type Fields, type Field } from '../src/records/fields.ts';
import { failureCodeForm, intervalUnits } from '../src/vocabulary.ts';

interface Described {
  readonly fields: Fields;
  readonly about: Readonly<Record<string, string | undefined>>;
}

/** An entry for each of a record's fields; what only feeds may give is left out. */
export function writeFields({ fields, about }: Described, prefix = ''): string[] {
  return Object.entries(fields).flatMap(([each, field]) => {
    const words = wordsOf(field);
    if (words === undefined) return [];
    const name = prefix + each;
    const value = [words, about[name] ?? ''].filter((part) => part !== '').join('; ');
    const entry = `\`${name}\`${field.required ? ' (required)' : ''}: ${value}`;
    return field.kind === 'list'
      ? [entry, ...writeFields({ fields: field.fields, about }, `${name}[].`)]
      : [entry];
  });
}

const count = (number: number) => number.toLocaleString('en-US');
const choice = (values: readonly string[]) => values.map((value) => `\`${value}\``).join(', ');

/** What the kind of a field says; undefined for what only feeds may give. */
function wordsOf(field: Field): string | undefined {
  switch (field.kind) {
    case 'ids':
      return `at most ${count(field.max)} ids`;
    case 'integer':
      return `${count(field.min)} to ${count(field.max)}`;
    case 'intervalCount':
      return '1 to 1,000';
    case 'intervalUnit':
      return choice(intervalUnits);
    case 'enum':
      return choice(field.values);
    case 'text': {
      const text =
        field.maxLength < 1000 ? `text of at most ${field.maxLength} characters` : 'text';
      return field.mayBeEmpty ? text : `${text}, not blank`;
    }
    case 'boolean':
      return 'true or false';
    case 'code':
      return failureCodeForm.replaceAll(/"(.)"/g, '`$1`');
    case 'list':
      return `${field.min > 0 ? `${field.min} to` : 'at most'} ${count(field.max)} objects`;
    case 'part':
      return '';
    case 'preserve':
    case 'json':
      return undefined;
    default:
      return field.kind;
  }
}
