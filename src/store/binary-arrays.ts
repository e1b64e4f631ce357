/** How the elements of an array of one type are sent. */
interface ElementType {
  readonly oid: number;
  /** The most bytes that an element takes. */
  maxBytes(element: unknown): number;
  /** @returns the number of bytes written */
  write(bytes: Buffer, element: never, at: number): number;
}

const byHalves = 2 ** 32;
/** PostgreSQL counts microseconds from 2000. */
const postgresEpoch = Date.UTC(2000, 0, 1);

/** https://www.postgresql.org/docs/18/protocol-overview.html#PROTOCOL-FORMAT-CODES */
const elementTypes: Readonly<Record<string, ElementType>> = {
  bigint: fixed(20, 8, (bytes, element: number, at) => {
    bytes.writeInt32BE(Math.floor(element / byHalves), at);
    bytes.writeInt32BE(element | 0, at + 4);
  }),
  int: fixed(23, 4, (bytes, element: number, at) => void bytes.writeInt32BE(element, at)),
  smallint: fixed(21, 2, (bytes, element: number, at) => void bytes.writeInt16BE(element, at)),
  timestamptz: fixed(
    1184,
    8,
    (bytes, element: number, at) =>
      void bytes.writeBigInt64BE(BigInt(element - postgresEpoch) * 1000n, at),
  ),
  uuid: fixed(
    2950,
    16,
    (bytes, element: string, at) => void bytes.write(element.replaceAll('-', ''), at, 'hex'),
  ),
  text: {
    oid: 25,
    maxBytes: (element) => 3 * String(element).length,
    write: (bytes, element, at) => bytes.write(element, at),
  },
};

function fixed<Element>(
  oid: number,
  size: number,
  writeElement: (bytes: Buffer, element: Element, at: number) => void,
): ElementType {
  return {
    oid,
    maxBytes: () => size,
    write(bytes, element, at) {
      writeElement(bytes, element, at);
      return size;
    },
  };
}

/**
 * An array in PostgreSQL's binary form, which it reads in a fifth of the time that it takes for text.
 * @returns undefined if the type is sent as text
 */
export function binaryArray(type: string, elements: readonly unknown[]): Buffer | undefined {
  const elementType = elementTypes[type];
  if (!elementType) return undefined;
  const { oid } = elementType;
  let size = 20;
  for (const element of elements) size += 4 + (element == null ? 0 : elementType.maxBytes(element));
  const bytes = Buffer.allocUnsafe(size);
  // One dimension, whose elements are counted from 1; an empty array has none.
  const header = elements.length === 0 ? [0, 0, oid] : [1, 0, oid, elements.length, 1];
  let at = 0;
  for (const word of header) at = bytes.writeInt32BE(word, at);
  for (const element of elements) {
    const length = element == null ? -1 : elementType.write(bytes, element as never, at + 4);
    bytes.writeInt32BE(length, at);
    at += 4 + Math.max(length, 0);
  }
  return bytes.subarray(0, at);
}
