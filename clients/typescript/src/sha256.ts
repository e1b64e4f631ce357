/* SHA-256 (FIPS 180-4). The one of the Web Crypto API is asynchronous, and that of Node.js is not everywhere. */

/** The first 32 bits of the fractional parts of a root of each of the first primes. */
function fractions(count: number, root: (prime: number) => number): number[] {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate += 1) {
    let isPrime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) {
      if (candidate % divisor === 0) isPrime = false;
    }
    if (isPrime) found.push(Math.floor((root(candidate) % 1) * 2 ** 32) | 0);
  }
  return found;
}

const initial = fractions(8, Math.sqrt);
const constants = fractions(64, Math.cbrt);
const rotate = (word: number, bits: number) => (word >>> bits) | (word << (32 - bits));

/** The digest's eight words, each from 0 to 2^32 − 1. */
export function sha256(text: string): number[] {
  const bytes = new TextEncoder().encode(text);
  const length = Math.ceil((bytes.length + 9) / 64) * 64;
  const padded = new DataView(new ArrayBuffer(length));
  for (const [index, byte] of bytes.entries()) padded.setUint8(index, byte);
  padded.setUint8(bytes.length, 0x80);
  padded.setUint32(length - 4, bytes.length * 8);
  const state = [...initial];
  const words = new Int32Array(64);
  const word = (index: number) => words[index] ?? 0;
  for (let block = 0; block < length; block += 64) {
    for (let index = 0; index < 16; index += 1) words[index] = padded.getInt32(block + 4 * index);
    for (let index = 16; index < 64; index += 1) {
      const [early, late] = [word(index - 15), word(index - 2)];
      words[index] =
        word(index - 16) +
        (rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3)) +
        word(index - 7) +
        (rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10));
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
    for (const [index, constant] of constants.entries()) {
      const first =
        h +
        (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
        ((e & f) ^ (~e & g)) +
        constant +
        word(index);
      const second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g];
    }
    for (const [index, value] of [a, b, c, d, e, f, g, h].entries()) {
      state[index] = ((state[index] ?? 0) + value) | 0;
    }
  }
  return state.map((each) => each >>> 0);
}
