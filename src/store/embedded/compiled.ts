import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(import.meta.resolve('@electric-sql/pglite/pglite.wasm'));

/** Typed here, because TypeScript knows it only as a part of browsers. */
const { WebAssembly: engine } = globalThis as unknown as {
  readonly WebAssembly: { compile(program: Buffer): Promise<object> };
};

let compiled: Promise<object> | undefined;

/**
 * Keeps the compiled program of the embedded database for as long as this process runs. Without that, Node.js would
 * compile it again for each database that the process opens, which costs more than opening it.
 */
export async function keepCompiled(): Promise<void> {
  await (compiled ??= engine.compile(readFileSync(file)));
}
