/*
 * Reads the type declarations that Stripe generates from its OpenAPI document. They are regular:
 * interfaces, namespaces and aliases, without conditional or mapped types.
 */

export type TypeNode =
  | { readonly kind: 'name'; readonly name: string; readonly arguments: readonly TypeNode[] }
  | { readonly kind: 'literal'; readonly value: string | boolean }
  | { readonly kind: 'array'; readonly of: TypeNode }
  | { readonly kind: 'union'; readonly of: readonly TypeNode[] }
  | { readonly kind: 'object'; readonly members: readonly Member[]; readonly rest?: TypeNode };

export interface Member {
  readonly name: string;
  readonly isOptional: boolean;
  readonly type: TypeNode;
}

export interface Declaration {
  readonly type: TypeNode;
  readonly extends: readonly string[];
}

/** The interfaces and aliases of a file, nested ones as `Outer.Inner`. */
export interface Declarations {
  readonly types: ReadonlyMap<string, Declaration>;
  /** What a name imports: the file, and its name there. */
  readonly imports: ReadonlyMap<string, readonly [file: string, name: string]>;
}

const unquote = (text: string) => text.replace(/^'(.*)'$/, '$1');

const token = /\s+|\/\*[\s\S]*?\*\/|\/\/[^\n]*|('[^']*'|[\w$]+|[^\s\w])/y;

export function readDeclarations(source: string): Declarations {
  const tokens: string[] = [];
  token.lastIndex = 0;
  for (let match = token.exec(source); match; match = token.exec(source)) {
    if (match[1] !== undefined) tokens.push(match[1]);
  }
  const types = new Map<string, Declaration>();
  const imports = new Map<string, readonly [file: string, name: string]>();
  let at = 0;
  const take = (wanted?: string): string => {
    const found = tokens[at] ?? '';
    if (wanted !== undefined && found !== wanted) {
      throw new Error(
        `"${found}" stands where "${wanted}" should: ${tokens.slice(at - 8, at + 8).join(' ')}`,
      );
    }
    at += 1;
    return found;
  };
  const takeIf = (wanted: string): boolean => {
    if (tokens[at] !== wanted) return false;
    at += 1;
    return true;
  };

  function readType(): TypeNode {
    takeIf('|');
    const of = [readOperand()];
    while (takeIf('|')) of.push(readOperand());
    // `string & Record<never, never>` is a string.
    while (takeIf('&')) readOperand();
    return of.length === 1 ? (of[0] as TypeNode) : { kind: 'union', of };
  }

  function readOperand(): TypeNode {
    if (tokens[at] === '{') return readObject();
    let operand = readName();
    while (tokens[at] === '[' && tokens[at + 1] === ']') {
      at += 2;
      operand = { kind: 'array', of: operand };
    }
    return operand;
  }

  function readName(): TypeNode {
    let name = take();
    if (name.startsWith("'")) return { kind: 'literal', value: unquote(name) };
    if (name === 'true' || name === 'false') return { kind: 'literal', value: name === 'true' };
    while (takeIf('.')) name += `.${take()}`;
    const given: TypeNode[] = [];
    if (takeIf('<')) {
      do given.push(readType());
      while (takeIf(','));
      take('>');
    }
    return name === 'Array'
      ? { kind: 'array', of: given[0] as TypeNode }
      : { kind: 'name', name, arguments: given };
  }

  function readObject(): TypeNode {
    take('{');
    const members: Member[] = [];
    let rest: TypeNode | undefined;
    while (!takeIf('}')) {
      takeIf('readonly');
      if (takeIf('[')) {
        while (take() !== ']');
        take(':');
        rest = readType();
      } else {
        const name = unquote(take());
        const isOptional = takeIf('?');
        take(':');
        members.push({ name, isOptional, type: readType() });
      }
      takeIf(';');
    }
    return { kind: 'object', members, ...(rest && { rest }) };
  }

  function skipBlock(): void {
    while (take() !== '{');
    for (let depth = 1; depth > 0;) {
      const next = take();
      if (next === '{') depth += 1;
      if (next === '}') depth -= 1;
    }
  }

  function readImport(): void {
    const names: [local: string, name: string][] = [];
    if (takeIf('*')) {
      take('as');
      names.push([take(), '*']);
    } else {
      take('{');
      while (!takeIf('}')) {
        const name = take();
        names.push([takeIf('as') ? take() : name, name]);
        takeIf(',');
      }
    }
    take('from');
    const file = unquote(take());
    for (const [local, name] of names) imports.set(local, [file, name]);
  }

  function readStatements(outer: string): void {
    while (at < tokens.length && tokens[at] !== '}') {
      const keyword = take();
      if (keyword === 'import') readImport();
      else if (keyword === 'interface') {
        const name = `${outer}${take()}`;
        if (tokens[at] === '<') {
          skipBlock();
          continue;
        }
        const parents: string[] = [];
        if (takeIf('extends')) {
          do parents.push((readName() as { readonly name: string }).name);
          while (takeIf(','));
        }
        types.set(name, { type: readObject(), extends: parents });
      } else if (keyword === 'namespace') {
        const name = take();
        take('{');
        readStatements(`${outer}${name}.`);
        take('}');
      } else if (keyword === 'type') {
        const name = `${outer}${take()}`;
        if (tokens[at] === '<') while (tokens[at] !== '=') at += 1;
        take('=');
        types.set(name, { type: readType(), extends: [] });
      } else if (keyword === 'class') skipBlock();
      // `export { Name } from 'file'`
      else if (keyword === '{') while (take() !== '}');
    }
  }

  readStatements('');
  return { types, imports };
}
